"""The images of Tools/image in QEMU: a machine with a console, a network to this one, a second network for its adapter, and a disk."""
import os, re, signal, socket, subprocess, sys, threading, time

from jelling import programs
from jelling.child import Failure, wait_until

sys.path.insert(0, os.path.join(programs.ROOT, 'Tools', 'Images'))
from debian_packages import qemu   # noqa: E402

CACHE = os.environ.get('IMAGE_CACHE') or os.path.join(programs.ROOT, '.cache', 'image')
BUILT = os.path.join(programs.ROOT, '.build', 'image')
# Seconds, for what takes half a minute alone on this machine, without acceleration.
PATIENCE = 300
DISK_OCTETS = 192 << 20
# Emulator, machine, console, and MiB of memory.
KINDS = {'arm64': ('qemu-system-aarch64', ['-machine', 'virt', '-cpu', 'cortex-a53'], 'ttyAMA0', 192),
         'amd64': ('qemu-system-x86_64', ['-machine', 'pc', '-cpu', 'max'], 'ttyS0', 512)}
# On the emulated processor of amd64 what protects from others on the machine only takes time.
FASTER = {'arm64': '', 'amd64': 'mitigations=off no_timer_check'}


class Machine:
    def __init__(self, architecture, folder, broker, dongle=None, images=BUILT, memory=None, parameters=''):
        """`broker` and `dongle` are ports of this machine's loopback."""
        self.architecture, self.folder, self.images = architecture, folder, images
        self.broker, self.dongle, self.parameters = broker, dongle, parameters
        self.memory = memory or KINDS[architecture][3]
        self.disk, self.process, self.number = os.path.join(folder, f'{architecture}.disk'), None, 0
        with open(self.disk, 'wb') as disk:
            disk.truncate(DISK_OCTETS)

    def power_on(self):
        emulator, kind, console, _ = KINDS[self.architecture]
        (command, environment), self.monitor = qemu(CACHE, emulator), os.path.join(self.folder, f'{self.architecture}.monitor')
        said = (f'console={console} quiet panic=5 {FASTER[self.architecture]} jelling.shell=1 jelling.state=/dev/vda jelling.name={self.architecture} '
                f'jelling.mqtt=mqtt://10.0.2.2:{self.broker} {f"jelling.dongle={self.dongle}" if self.dongle else ""} {self.parameters}')
        self.shown, self.changed, self.began = '', threading.Condition(), time.monotonic()
        self.process = subprocess.Popen(
            [*command, *kind, '-accel', 'tcg,thread=multi,tb-size=128', '-m', str(self.memory), '-nographic', '-nodefaults', '-no-user-config',
             '-kernel', f'{self.images}/{self.architecture}.vmlinuz', '-initrd', f'{self.images}/{self.architecture}.img', '-append', said,
             '-serial', 'stdio', '-monitor', f'unix:{self.monitor},server,nowait', '-device', 'virtio-rng-pci',
             '-drive', f'file={self.disk},format=raw,if=virtio',
             '-netdev', 'user,id=outside', '-device', 'virtio-net-pci,netdev=outside,romfile=',
             '-netdev', 'user,id=air,net=10.0.3.0/24', '-device', 'virtio-net-pci,netdev=air,romfile='],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment})
        self.has_cable = True
        self.reader = threading.Thread(target=self.read, args=(self.process,), daemon=True)
        self.reader.start()
        return self

    def read(self, process):
        while data := os.read(process.stdout.fileno(), 65536):
            with self.changed:
                self.shown += data.decode('utf-8', 'replace').replace('\r', '')
                self.changed.notify_all()

    def wait(self, pattern, what=None, timeout=PATIENCE, since=0):
        """The match, once the console has shown it."""
        end = time.monotonic() + timeout
        with self.changed:
            while not (found := re.search(pattern, self.shown[since:], re.S)):
                if time.monotonic() > end or self.process.poll() is not None:
                    raise Failure(f'{self.architecture}: no {what or pattern} within {timeout} s; the console: {self.shown[-1500:]}')
                self.changed.wait(0.5)
            return found

    def starts(self, slot='built-in', since=0):
        """The version of the image that runs."""
        return self.wait(rf'image: (\S+) \(({slot})\), after', f'start of the image {slot}', since=since)[1]

    def shell(self, command, timeout=PATIENCE, status=0):
        """What a command prints; its exit status has to be this one, unless it is None."""
        self.number += 1
        # What the shell echoes is not what the command prints.
        self.process.stdin.write(f"echo be''gin-{self.number}; {command}; echo e''nd-{self.number}-$?\n".encode())
        self.process.stdin.flush()
        found = self.wait(rf'begin-{self.number}\n(.*?)end-{self.number}-(\d+)', f'end of ‘{command}’', timeout)
        if status is not None and int(found[2]) != status:
            raise Failure(f'{self.architecture}: ‘{command}’ ended with status {found[2]}: {found[1][-800:]}')
        return found[1]

    def numbers(self, name):
        """Of the processes of this name."""
        return {int(word) for word in self.shell(f'pidof {name}', status=None).split() if word.isdigit()}

    def cable(self, is_in):
        """Of the network to the broker."""
        if is_in == self.has_cable:
            return
        self.has_cable = is_in
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(PATIENCE)
            monitor.connect(self.monitor)
            said = monitor.recv(4096)
            monitor.sendall(f'set_link outside {"on" if is_in else "off"}\n'.encode())
            while said.count(b'(qemu)') < 2:
                said += monitor.recv(4096)

    def cut(self):
        """The power fails: what the machine has in memory is gone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    close = cut


def measure(architecture, images):
    """Boots an image twice and prints times and memory; it needs the service of Tests/System/image/air, which takes the dongle."""
    # These need what only the tests have.
    from jelling.dongles import Dongles
    from jelling.gateway import SENSOR, Bench
    bench, dongles, machine = Bench(), None, None
    try:
        heard = bench.heard('jelling/#')
        dongles = Dongles(bench.dir, *SENSOR)
        machine = Machine(architecture, bench.dir, bench.port, dongles.port, images)
        for what in 'empty state partition', 'state partition in use':
            before = len(heard.messages)
            machine.power_on()
            found = machine.wait(r'image: \S+ \(built-in\), after ([\d.]+) s')
            services = time.monotonic() - machine.began
            wait_until(lambda: any('F2:F1:F0:00:00:02' in payload for _, payload, retained in heard.messages[before:] if not retained),
                       'the first message', PATIENCE)
            print(f'{architecture}, {what}: image chosen {services:.1f} s after power-on ({found[1]} s of its own clock), '
                  f'first message {time.monotonic() - machine.began:.1f} s', flush=True)
            if what.startswith('empty'):
                # So that the next start has something to find.
                machine.shell('sync')
                machine.cut()
        total, used, _, shared, *_ = re.search(r'Mem: +(.*)', machine.shell('free -k'))[1].split()
        print(f'{architecture}: {int(total) // 1024} MB of memory for programs, {int(used) // 1024} MB in use, '
              f'{int(shared) // 1024} MB of files of the image, of {machine.memory} MiB')
        for name in ('ble-gw', 'mosquitto') if architecture == 'arm64' else ('bled', 'jelling-gateway'):
            resident = machine.shell(f'grep -E "VmRSS|RssAnon" /proc/$(pidof {name})/status')
            print(f'{architecture}: {name}: {" ".join(resident.split())}')
    finally:
        for part in machine, dongles, bench:
            if part:
                part.close()
