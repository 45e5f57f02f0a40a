"""A machine with an image, and what it has around it: a broker, a subscriber, and a sensor behind an emulated dongle."""
import functools, http.server, os, shutil, subprocess, sys, tempfile, threading

from jelling import programs
from jelling.child import Failure, wait_until
from jelling.dongles import Dongles
from jelling.gateway import SENSOR, Bench
from jelling.machine import PATIENCE, Machine

AIR = os.path.join(programs.ROOT, 'Tests', 'System', 'image', 'air')


class Bed:
    def __init__(self, architecture, added, parameters='', has_dongle=True):
        self.architecture, self.folder = architecture, tempfile.mkdtemp(prefix='jelling-image-')
        self.added, self.bench, self.dongles, self.machine, self.servers = os.path.join(self.folder, 'added'), Bench(), None, None, []
        try:
            shutil.copytree(AIR, self.added)
            for name in added:
                os.makedirs(f'{self.added}/usr/bin', exist_ok=True)
                shutil.copy(programs.path(name), f'{self.added}/usr/bin/{name}')
            self.images = self.image('first')
            self.heard = self.bench.heard('jelling/#')
            self.dongles = Dongles(self.folder, *SENSOR) if has_dongle else None
            self.machine = Machine(architecture, self.folder, self.bench.port, has_dongle and self.dongles.port, self.images,
                                   parameters=parameters).power_on()
        except BaseException:
            self.close()
            raise

    def image(self, version, *folders):
        """A folder with an image of this version, and in it what is in these folders."""
        output = os.path.join(self.folder, version)
        more = [word for folder in (self.added, *folders) for word in ('--add', folder)]
        subprocess.run([sys.executable, f'{programs.ROOT}/Tools/image', '--built', '--level', '3', '--version', version, '--output', output, '--programs',
                        programs.FOLDER, *more, self.architecture], check=True, stdin=subprocess.DEVNULL)
        return output

    def served(self, folder):
        """The URL at which the machine finds a folder of this one."""
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=folder))
        self.servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f'http://10.0.2.2:{server.server_port}'

    # What the broker has from it

    def messages(self):
        """The sensor's, as (topic, payload)."""
        return [(topic, payload) for topic, payload, retained in self.heard.messages
                if topic.startswith((f'jelling/{self.architecture}/events', f'jelling/{self.architecture}/devices/')) and not retained]

    def goes_on(self, what, wanted=lambda payload: True):
        """Until something comes that was not there before."""
        before = len(self.messages())
        try:
            wait_until(lambda: any(wanted(payload) for _, payload in self.messages()[before:]), what, PATIENCE)
        except Failure as failure:
            console = self.machine.shown[-1500:]
            raise Failure(f'{failure}; the services: {self.machine.shell("tail -n 12 /run/log/*/current", status=None)}; the console: {console}') from None

    def recover(self):
        if self.machine.process.poll() is not None:
            self.machine.power_on()
            self.machine.starts('.*')
        if self.dongles and self.dongles.server.is_ended:
            self.dongles.plug_in()
        self.machine.cable(True)

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        for part in self.machine, self.dongles, self.bench:
            if part:
                part.close()
        shutil.rmtree(self.folder, ignore_errors=True)
