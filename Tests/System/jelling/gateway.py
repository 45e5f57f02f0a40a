"""One bench for jelling-gateway: a Mosquitto on loopback, devices, the gateway, and subscribers that we did not write."""
import collections, contextlib, json, os, pathlib, re, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.error, urllib.request

from jelling import child as children
from jelling.child import Child, Failure, free_port
from jelling.lab import Lab
from jelling.programs import GATEWAY, ROOT, remedy

# Seconds for what takes one or two on a machine with nothing else to do.
PATIENCE = 180

RADIO = os.path.join(ROOT, 'Tools', 'Gateway', 'radio.py')
MERGE = os.path.join(ROOT, 'Tools', 'Merge', 'jelling-merge')
PYTHON = os.path.join(ROOT, '.cache', 'gateway', 'venv', 'bin', 'python')
MOSQUITTO = shutil.which('mosquitto', path=os.environ.get('PATH', '') + ':/usr/sbin')


def lacking():
    """What is not there of what every case needs, and how to get it; or None."""
    missing = [p for p in (GATEWAY, PYTHON, MOSQUITTO or 'mosquitto') if not os.access(p, os.X_OK)]
    if not missing:
        return None
    return f'missing: {", ".join(missing)}; Tools/install gateway peers, {remedy("jelling-gateway")}'


def on_bench(measure, *arguments):
    """The exit status of what a tool measures on a bench."""
    if missing := lacking():
        sys.exit(missing)
    bench = Bench()
    try:
        return measure(bench, *arguments)
    finally:
        bench.close()


PEER = 'F2:F1:F0:00:00:02'
SENSOR = ('--service-data', 'FCD2:4002c40903bf13')   # BTHome v2: 25 °C, 50.55 %


def wait_until(condition, what, timeout=PATIENCE):
    return children.wait_until(condition, what, timeout, 0.05)


class Gateway(Child):
    """jelling-gateway, and its page if it has one."""
    port = None

    def wait_stderr(self, text, timeout=PATIENCE):
        super().wait_stderr(text, timeout)

    def get(self, path, token=None):
        """(status, body)"""
        request = urllib.request.Request(f'http://127.0.0.1:{self.port}{path}', headers={'Authorization': f'Bearer {token}'} if token else {})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()
        except (urllib.error.URLError, ConnectionError):
            return 0, ''

    def health(self, token=None):
        return json.loads(self.get('/health', token)[1])

    def is_healthy(self):
        return self.get('/health')[0] == 200

    def metric(self, name):
        for line in self.get('/metrics')[1].splitlines():
            if line.startswith(f'jelling_gateway_{name} '):
                return float(line.split()[-1])
        return None

    def wait_metric(self, name, more_than, timeout=PATIENCE):
        wait_until(lambda: (self.metric(name) or 0) > more_than, f'{name} above {more_than}', timeout)

    def end_radio(self, radio):
        """Ends it, and waits until the gateway has handled all that it sent."""
        radio.end()
        self.wait_stderr(f'{radio.socket}: ')

    def wait_empty(self):
        # In this order: a message on its way to the disk would be seen by neither.
        wait_until(lambda: self.metric('queue_unwritten_messages') == 0 and self.metric('queue_messages') == 0, 'the queue is empty')

    def drain(self, radio):
        """Ends the radio, and waits until all that it sent is with the broker; how many documents were made."""
        self.end_radio(radio)
        self.wait_empty()
        return self.metric('documents_total')

    def ends_soon(self, what):
        """SIGTERM ends it; in how many seconds."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure(f'{what}: SIGTERM has no effect') from None
        took = time.monotonic() - started
        assert took < 30, f'{what}: the end took {took:.1f} s'
        return took


class Subscriber(Child):
    """mosquitto_sub, which has subscribed; its messages are (topic, payload as text, retained)."""

    def __init__(self, bench, *topics, port=None, options=()):
        bench.number += 1
        arguments = ['stdbuf', '-oL', 'mosquitto_sub', '-d', '-h', '127.0.0.1', '-p', str(port or bench.port), '-F', '%j', '-q', '1']
        for topic in topics:
            arguments += ['-t', topic]
        super().__init__('mosquitto_sub', [*arguments, *options], bench.path(f'sub{bench.number}.err'))
        bench.children.append(self)
        wait_until(lambda: any(l.startswith('Subscribed') for l in self.strays) or not self.reader.is_alive(), 'a subscription')

    @property
    def messages(self):
        return [(l['topic'], l['payload'], l['retain'] == 1) for l in list(self.lines)]

    def documents(self, end=''):
        return [json.loads(p) for t, p, _ in self.messages if '/devices/' in t and t.endswith(end)]

    def wait_documents(self, count):
        """Until so many have come, repeated ones once, in order."""
        wait_until(lambda: check_order(self.documents())[1] >= count, f'{count} documents')

    def wait(self, wanted, what, count=1, timeout=PATIENCE):
        return wait_until(lambda: (lambda m: m if len(m) >= count else None)([m for m in self.messages if wanted(*m)]),
                          f'{what} (last: {str(self.messages[-2:])[:600]})', timeout)


class Bench:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='jelling-gateway-')
        self.children, self.labs, self.number = [], [], 0
        self.port = free_port()
        self.broker = None

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        # As editors do: a new file in the place of the old one.
        pathlib.Path(self.path(name + '.new')).write_text(text, encoding='utf-8')
        os.rename(self.path(name + '.new'), self.path(name))
        return self.path(name)

    # Broker and subscribers

    def start_broker(self, configuration=''):
        """Keeps sessions and what waits for them in a file, so that it can be away."""
        listener = configuration if 'listener' in configuration else f'listener {self.port} 127.0.0.1\n{configuration}'
        anonymous = '' if 'allow_anonymous' in configuration else 'allow_anonymous true\n'
        self.broker_file = self.write('mosquitto.conf', listener + '\n' + anonymous + (
            f'persistence true\npersistence_location {self.dir}/\nuser root\n'
            'max_queued_messages 0\nmax_inflight_messages 0\n'))
        self.resume_broker()

    def resume_broker(self):
        self.number += 1
        self.broker = Child('mosquitto', [MOSQUITTO, '-c', self.broker_file], self.path(f'mosquitto{self.number}.err'))
        self.children.append(self.broker)

        def listens():
            if self.broker.process.poll() is not None:
                raise Failure(f'mosquitto ended: {self.broker.stderr()[-400:]}')
            with socket.socket() as s:
                return s.connect_ex(('127.0.0.1', self.port)) == 0
        wait_until(listens, 'mosquitto listens')

    def stop_broker(self, how=signal.SIGTERM):
        self.broker.end(how)

    def subscribe(self, *topics, **how):
        return Subscriber(self, *topics, **how)

    def start_broker_for(self, gateway, *topics, **how):
        """Starts the broker with a subscriber that is there before the gateway: a message that nobody wants is gone."""
        gateway.process.send_signal(signal.SIGSTOP)
        try:
            self.start_broker()
            return self.subscribe(*topics, **how)
        finally:
            gateway.process.send_signal(signal.SIGCONT)

    # Devices

    def lab(self, *arguments, peer=True, endpoints=2):
        """Bumble's controllers, and a device of Bumble's that advertises."""
        for attempt in range(3):
            lab = Lab('bumble', endpoints)
            self.labs.append(lab)
            try:
                lab.open(False)
                break
            except Failure:
                # Python needs a minute for Bumble on a machine that is busy with builds.
                if attempt == 2:
                    raise
        if peer:
            lab.start_peer(*arguments)
        return lab

    def radio(self, *arguments, name='radio', **how):
        self.number += 1
        socket = f'unix:{self.path(name)}'
        child = Child('radio.py', [sys.executable, RADIO, socket, *arguments], self.path(f'{name}{self.number}.err'), **how)
        self.children.append(child)
        child.wait_for(lambda l: l.get('ev') == 'ready', 'ready')
        child.socket = socket
        return child

    def scripted_radio(self, name='radio'):
        """One that reports what `say` says."""
        child = self.radio('--stdin', name=name, stdin=subprocess.PIPE)

        def say(address, data, rssi=-60):
            child.process.stdin.write(f'{address} {data} {rssi}\n'.encode())
            child.process.stdin.flush()
        child.say = say
        return child

    # The gateway

    def packets(self, *packets, rate=10, name='radio'):
        """One that sends these, a list of [address, data], again and again."""
        return self.radio('--packets', self.write(f'{name}.json', json.dumps(packets)), '--rate', str(rate), name=name)

    @contextlib.contextmanager
    def small_disk(self, size):
        """A file system of its own; the gateway ends before it."""
        disk = self.path('disk')
        os.mkdir(disk)
        mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size},mode=700', 'tmpfs', disk], capture_output=True, text=True)
        assert mounted.returncode == 0, f'a small disk cannot be mounted: {mounted.stderr}'
        try:
            yield disk
        finally:
            for child in self.children:
                child.name == 'jelling-gateway' and child.end(signal.SIGKILL)
            subprocess.run(['umount', disk], capture_output=True)

    @property
    def url(self):
        return f'mqtt://127.0.0.1:{self.port}'

    def start(self, *arguments, environment=None, command=(GATEWAY,), has_state=True, page=False, **how):
        """With `page` it serves one, as where its file says so."""
        self.number += 1
        state = ['--state', self.path('state')] if has_state else []
        port = free_port() if page else None
        served = ['--http', f'127.0.0.1:{port}'] if page else []
        if '--config' in arguments and os.path.isfile(file := arguments[arguments.index('--config') + 1]):
            found = re.search(r'listen: "127.0.0.1:(\d+)"', pathlib.Path(file).read_text(encoding='utf-8', errors='replace'))
            port = int(found[1]) if found else port
        gateway = Gateway('jelling-gateway', [*command, *state, *arguments, *served],
                          self.path(f'gateway{self.number}.err'), {**os.environ, **(environment or {})}, **how)
        gateway.port = port
        self.children.append(gateway)
        return gateway

    def merge(self, *arguments, name=None, has_url=True):
        """jelling-merge, a consumer of the documents of many gateways."""
        self.number += 1
        url = ['--mqtt', self.url] if has_url else []
        child = Child('jelling-merge', [PYTHON, MERGE, *url, '--name', name or f'merge{self.number}', *arguments], self.path(f'merge{self.number}.err'))
        self.children.append(child)
        return child

    def settings(self, *adapters, mqtt='', more='', url=None, name='gateway.yaml'):
        """A file for the gateway `g` with these radios."""
        adapters = ', '.join(f'"{getattr(one, "socket", one)}"' for one in adapters)
        return self.write(name, f'name: g\nadapters: [{adapters}]\nmqtt: {{url: "{url or self.url}", longestBackoff: 1{mqtt}}}\n{more}')

    def configured(self, text, *arguments, **how):
        """Starts it with a file."""
        return self.start('--config', self.write('gateway.yaml', text), *arguments, **how)

    def run(self, *arguments, status=0, timeout=PATIENCE, environment=None, has_state=True):
        child = self.start(*arguments, environment=environment, has_state=has_state)
        try:
            found = child.process.wait(timeout)
        except subprocess.TimeoutExpired:
            child.end(signal.SIGKILL)
            raise Failure(f'still runs after {timeout} s: {child.stderr()[-400:]}') from None
        child.reader.join(PATIENCE)
        if status is not None and found != status:
            raise Failure(f'exit status {found}, want {status}: {child.stderr()[-600:]}')
        return child

    def heard(self, *topics, **how):
        """Starts the broker; a subscriber."""
        self.start_broker()
        return self.subscribe(*topics, **how)

    def close(self):
        for child in reversed(self.children):
            child.end(signal.SIGTERM if child.name == 'jelling-gateway' else signal.SIGKILL)
        for lab in self.labs:
            lab.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def check_order(documents, lossless=True):
    """Every device's documents in order; repeated ones are allowed, missing ones are not."""
    sequences = collections.defaultdict(list)
    for d in documents:
        sequences[d['address']].append((d['time'], d['sequence']))
    repeats = 0
    for address, found in sequences.items():
        fresh = list(dict.fromkeys(found))
        repeats += len(found) - len(fresh)
        assert fresh == sorted(fresh), f'{address}: out of order'
        # The sequence begins again with each start of the gateway.
        for (_, before), (_, after) in zip(fresh, fresh[1:]):
            assert not lossless or after in (before + 1, 1), f'{address}: {before} is followed by {after}'
    return len(sequences), sum(len(set(f)) for f in sequences.values()), repeats
