"""Many gateways and jelling-merge: nothing is lost, whoever dies; the best signal; what is wrong harms nobody."""
import collections, json, os, random, re, shutil, signal, subprocess, sys, time

from gateway.test_trouble import certificate
from jelling import options
from jelling.child import free_port
from jelling.gateway import MERGE, PYTHON, ROOT, wait_until
from jelling.measures import kilobytes

sys.path.insert(0, os.path.join(ROOT, 'Tools', 'Merge'))
from jelling_merge import documents   # noqa: E402
from jelling_merge.handover import Handover, Record   # noqa: E402

SHARED = 'AA:AA:AA:AA:AA:AA'


def address(number):
    return ':'.join(f'{octet:02X}' for octet in number.to_bytes(6, 'big'))


def document(gateway, device, rssi=-60, sequence=1, **more):
    return json.dumps({'gateway': gateway, 'address': device, 'rssi': rssi, 'sequence': sequence, **more})


class Publisher:
    """A gateway: each line that it says is a message at quality of service 1."""

    def __init__(self, bench, topic, *options):
        self.process = subprocess.Popen(['mosquitto_pub', '-h', '127.0.0.1', '-p', str(bench.port), '-q', '1', '-l', '-t', topic, *options],
                                        stdin=subprocess.PIPE)

    def say(self, *lines):
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else line.encode())
            self.process.stdin.write(b'\n')
        self.process.stdin.flush()

    def end(self):
        """When the broker has acknowledged everything."""
        self.process.stdin.close()
        assert self.process.wait(120) == 0


def publish(bench, topic, *lines):
    publisher = Publisher(bench, topic)
    publisher.say(*lines)
    publisher.end()


def consumer(bench, settings='', **how):
    child = bench.merge('--counts', '0.2', '--config', bench.write(f'merge{bench.number}.yaml', settings or '{}'), **how)
    child.wait_event('ready', 180)
    return child


def count(child, what):
    found = child.events('count')
    return found[-1][what] if found else 0


def keys(messages):
    return [(d['gateway'], d['address'], d['sequence']) for d in (json.loads(p) for _, p, _ in messages)]


def retained(bench, topic):
    found = subprocess.run(['mosquitto_sub', '-h', '127.0.0.1', '-p', str(bench.port), '-t', topic, '--retained-only', '-W', '1', '-F', '%t %p'],
                           capture_output=True, text=True, errors='replace')
    return dict(line.split(' ', 1) for line in found.stdout.split('\n') if ' ' in line)


def test_killed(bench):
    """consumers are killed at random under load; some return, some never: every document arrives, repeated ones are recognised"""
    bench.start_broker()
    heard, generator = bench.subscribe('fleet/devices/+'), random.Random(36)
    names, sent = ['a', 'b', 'c'], set()
    running = {name: consumer(bench, 'takeover: 1', name=name) for name in names}
    gateways = [Publisher(bench, f'jelling/g{n}/devices/all') for n in range(4)]
    sequence = killed = 0
    gateways[0].say(document('g0', SHARED, -40, 0))
    sent.add(('g0', SHARED, 0))
    heard.wait(lambda t, p, r: SHARED in t, 'the device that all hear')
    end = time.monotonic() + 8
    while time.monotonic() < end:
        sequence += 1
        for number, gateway in enumerate(gateways):
            lines = [(f'g{number}', address(number << 8 | d), sequence) for d in range(8)]
            gateway.say(*(document(g, a, -60, s) for g, a, s in lines), document(f'g{number}', SHARED, -80 if number else -40, sequence))
            sent.update(lines)
        sent.add(('g0', SHARED, sequence))
        if generator.random() < 0.15:
            name = generator.choice(names)
            running.pop(name).end(signal.SIGKILL)
            killed += 1
            if generator.random() < 0.4:
                names[names.index(name)] = name = f'{name[0]}{killed}'
            running[name] = bench.merge('--counts', '0.2', '--config', bench.write('k.yaml', 'takeover: 1'), name=name)
        time.sleep(0.05)
    for gateway in gateways:
        gateway.end()
    wait_until(lambda: sent <= set(keys(heard.messages)), lambda: f'{len(sent)} documents: {len(sent - set(keys(heard.messages)))} are missing')
    found = keys(heard.messages)
    wait_until(lambda: not [p for p in retained(bench, 'fleet/consumers/+').values() if '"online"' not in p], 'nobody is away')
    assert killed >= 3 and set(found) == sent, f'{killed} killed; superseded ones came: {set(found) - sent}'
    repeated = len(found) - len(sent)
    print(f'{killed} killed, {len(sent)} documents, {repeated} repeated')
    # What one had in hand, at most.
    assert repeated <= killed * 200, f'{repeated} repeated with {killed} killed'
    for child in running.values():
        child.ends_well()


def test_takes_over(bench):
    """what the broker gave to one that is stopped, killed, and never returns, is merged by another; its session is gone then"""
    bench.start_broker('log_type all')
    heard = bench.subscribe('fleet/devices/+')
    stopped, other = (consumer(bench, 'takeover: 1', name=name) for name in ('stopped', 'other'))
    stopped.process.send_signal(signal.SIGSTOP)
    publish(bench, 'jelling/g/devices/x', *(document('g', address(1), sequence=s) for s in range(1000)))
    wait_until(lambda: count(other, 'merged') == 500, 'its half')
    stopped.end(signal.SIGKILL)
    wait_until(lambda: sorted(keys(heard.messages)) == [('g', address(1), s) for s in range(1000)],
               lambda: f'everything, once: {len(heard.messages)}, {other.events("count")[-1]} {other.stderr()}')
    other.wait_stderr('took over what waited for stopped')
    wait_until(lambda: list(retained(bench, 'fleet/consumers/+')) == ['fleet/consumers/other'], 'one consumer')
    publish(bench, 'jelling/g/devices/x', *(document('g', address(1), sequence=s) for s in range(1000, 1100)))
    wait_until(lambda: len(heard.messages) == 1100, 'nothing goes to the other any more')
    other.ends_well()
    # The last one keeps what comes; its return finds it.
    publish(bench, 'jelling/g/devices/x', *(document('g', address(1), sequence=s) for s in range(1100, 1200)))
    again = consumer(bench, name='other')
    wait_until(lambda: len(set(keys(heard.messages))) == 1200, 'what came meanwhile')
    # The broker too may end and come back, with what it had.
    again.process.send_signal(signal.SIGSTOP)
    publish(bench, 'jelling/g/devices/x', *(document('g', address(1), sequence=s) for s in range(1200, 1300)))
    bench.stop_broker()
    bench.resume_broker()
    again.process.send_signal(signal.SIGCONT)
    again.wait_event('ready', 180, 2)
    publish(bench, 'jelling/g/devices/x', *(document('g', address(1), sequence=s) for s in range(1300, 1400)))
    late = bench.subscribe('fleet/devices/+')
    publish(bench, 'jelling/g/devices/x', document('g', address(1), sequence=1400))
    late.wait(lambda t, p, r: '1400' in p, 'the last one')
    wait_until(lambda: count(again, 'unanswered') == 0 and len(set(keys(heard.messages + late.messages))) == 1401, 'everything')
    again.ends_well()


def test_handover(bench):
    """a margin and a time decide; a restart and another consumer know the best; a silent gateway is replaced"""
    bench.start_broker()
    heard = bench.subscribe('fleet/devices/+')
    settings = 'handover: {margin: 6, time: 1, silence: 4}'
    first = consumer(bench, settings, name='one')
    sequence = 0

    def say(gateway, rssi, is_merged):
        nonlocal sequence
        sequence += 1
        publish(bench, f'jelling/{gateway}/devices/x', document(gateway, SHARED, -1, sequence, rssiSmoothed=rssi))
        publish(bench, 'jelling/mark/devices/x', document('mark', address(9), sequence=sequence))
        heard.wait(lambda t, p, r: ('mark', address(9), sequence) == keys([(t, p, r)])[0], 'the mark')
        assert ((gateway, SHARED, sequence) in keys(heard.messages)) == is_merged, f'{gateway} {rssi}'
    say('g1', -70, True)
    say('g2', -65, False)
    say('g2', -50, False)
    first.ends_well()
    second = consumer(bench, settings, name='one')
    time.sleep(1.1)
    say('g2', -50, True)
    say('g1', -50, False)
    assert json.loads(retained(bench, f'fleet/best/{SHARED}')[f'fleet/best/{SHARED}']) == {'gateway': 'g2', 'rssi': -50}
    time.sleep(4.1)
    say('g1', -90, True)
    second.ends_well()


def test_rules():
    """consumers with clocks of their own, documents at random to one of them: all agree, on the nearest; at most so many devices"""
    generator = random.Random(7)
    for _ in range(200):
        offsets = [generator.uniform(0, 1e6) for _ in range(generator.choice((1, 2, 5)))]
        several = [Handover(margin=4, time=5, silence=60, most=30) for _ in offsets]
        strengths, now = {g: -50 - 7 * n for n, g in enumerate(generator.sample('abcd', 4))}, 0.0
        changes = collections.Counter()

        def tell(device, record):
            for other, offset in zip(several, offsets):
                for gone in other.learn(device, record, now + offset):
                    tell(gone, None)
        for _ in range(300):
            now += generator.expovariate(2)
            device, gateway, one = generator.choice('xy'), generator.choice('abcd'), generator.randrange(len(several))
            verdict = several[one].judge(device, gateway, strengths[gateway] + generator.uniform(-1.5, 1.5), now + offsets[one])
            if verdict.record:
                changes[device] += verdict.record.gateway != several[0].devices[device].gateway if device in several[0].devices else 0
                tell(device, verdict.record)
        assert {h.devices[d].gateway for h in several for d in 'xy'} == {max(strengths, key=strengths.get)}, f'{strengths}'
        for number in range(100):
            verdict = several[0].judge(address(number), 'a', -60, now + offsets[0])
            tell(address(number), verdict.record)
            for gone in verdict.forgotten:
                tell(gone, None)
        assert all(len(h.devices) <= 30 for h in several)
    one = Handover(forget=100)
    one.learn('x', Record('g', -60, None), 1000)
    assert one.expire(1099) == [] and one.expire(1100) == ['x'] and not one.devices


# What mosquitto_pub sends as it is.
BUT_THE_END_OF_A_LINE = [n for n in range(1, 256) if n != 10]


def malformed(generator):
    """A line that is no document, or one of another gateway."""
    good = document('g', address(generator.randrange(50)), -60)
    values = (None, True, 1e999, -10 ** 400, 'x' * 300, [], {}, '\ud800', 'a/b', '#', '', -1e308, [[]] * 9)
    kind = generator.randrange(8)
    if kind == 0:
        return bytes(generator.choices(BUT_THE_END_OF_A_LINE, k=generator.randrange(1, 200)))
    if kind == 1:
        cut = bytearray(good.encode())
        cut[generator.randrange(len(cut))] = generator.randrange(11, 256)
        return bytes(cut)
    if kind == 2:
        return good.encode()[:generator.randrange(len(good))]
    if kind == 3:
        return b'[' * generator.randrange(1, 5000)
    if kind == 4:
        return b'{"rssi":' + b'9' * generator.randrange(1, 6000) + b'}'
    said = json.loads(good)
    for key in generator.sample(sorted(said), generator.randrange(1, 4)):
        said[key] = generator.choice(values)
    if kind == 6:
        said['identity'] = generator.choice((*values, {'address': generator.choice(values), 'name': generator.choice(values)}))
    if kind == 7:
        said['gateway'] = 'another'
    return json.dumps(said).encode()


def test_malformed(bench):
    """10,000 documents that are none (--messages 100000: so many), foreign topics, retained garbage: it goes on, and needs no more memory"""
    sent, batch = options.MESSAGES or 10_000, 500
    bench.start_broker()
    generator = random.Random(11)
    for topic in ('best', 'consumers'):
        for number in range(15):
            line = generator.choice((malformed(generator), b'{"gateway":"ghost","rssi":50}', b'{"state":"lost","group":"x","run":5}',
                                     b'{"gateway":"a/#","rssi":1e999}', b'{"gateway":"g","rssi":true,"challenger":[]}')) or b'x'
            subprocess.run(['mosquitto_pub', '-h', '127.0.0.1', '-p', str(bench.port), '-r', '-q', '1', '-t', f'fleet/{topic}/{address(number)}', '-s'],
                           input=line, check=True)
    heard = bench.subscribe('fleet/devices/+')
    child = consumer(bench, 'handover: {silence: 1}')
    topics = [f'jelling/g/devices/{d}' for d in ('x', '+'.replace('+', 'ü'), 'y' * 200)] + ['jelling/$x/devices/y']
    lines = [malformed(generator) for _ in range(20_000)]
    for line in lines + [generator.randbytes(generator.randrange(60)) for _ in range(20_000)]:
        for decode in (documents.document, documents.best, documents.presence):
            decode(line)
    sources = [Publisher(bench, topic) for topic in topics]
    for number in range(sent // batch):
        if number == sent // batch * 2 // 5:
            before = kilobytes(child.process)
        sources[number % 4].say(*generator.choices(lines, k=batch))
    for source in sources:
        source.end()
    wait_until(lambda: count(child, 'documents') == sent // batch * batch, f'{sent} documents')
    time.sleep(1.1)
    publish(bench, 'jelling/g/devices/x', *(document('g', address(n)) for n in range(1000, 1050)))
    heard.wait(lambda t, p, r: t.endswith(address(1049)), 'a good one')
    publish(bench, 'jelling/g/devices/x', *(document('g', address(n)) for n in range(50)))
    wait_until(lambda: {address(n) for n in range(50)} <= {t[14:] for t, _, _ in heard.messages}, 'those that garbage had')
    assert count(child, 'malformed') > sent * 0.7, child.events('count')[-1]
    after = kilobytes(child.process)
    assert after < before + 8_000, f'{before} kB became {after}'
    assert all(documents.best(p.encode()) for t, p in retained(bench, 'fleet/best/+').items() if int(t[-2:], 16) < 15), 'garbage is replaced'
    child.ends_well()


def test_forgets(bench):
    """a flood of addresses, and devices that are silent: forgotten, and their retained topics with them"""
    bench.start_broker()
    child, other = (consumer(bench, 'devices: {most: 200, forget: 5}') for _ in range(2))
    publish(bench, 'jelling/g/devices/x', *(document('g', address(n)) for n in range(3000)))
    wait_until(lambda: count(child, 'merged') + count(other, 'merged') == 3000, 'everything')
    assert max(count(child, 'devices'), count(other, 'devices')) <= 200
    assert len(retained(bench, 'fleet/best/+')) <= 200
    wait_until(lambda: count(child, 'devices') == count(other, 'devices') == 0 and not retained(bench, 'fleet/best/+'), 'nothing is left')
    for one in (child, other):
        one.ends_well()


def test_refused(bench):
    """TLS, a password that becomes right, and a broker that refuses the merged documents: they wait until it takes them"""
    certificate(bench, 'server')
    subprocess.run(['mosquitto_passwd', '-b', '-c', bench.path('passwords'), 'merge', 'right'], check=True, capture_output=True)
    secure, rules = free_port(), 'topic readwrite #\nuser merge\ntopic read #\ntopic write fleet/best/#\ntopic write fleet/consumers/#\n'
    bench.write('acl', rules)
    for name in ('passwords', 'acl'):
        os.chmod(bench.path(name), 0o644)
    bench.start_broker(f'listener {bench.port} 127.0.0.1\nallow_anonymous true\npassword_file {bench.dir}/passwords\nacl_file {bench.dir}/acl\n'
                       f'listener {secure} 127.0.0.1\ncafile {bench.dir}/ca.pem\ncertfile {bench.dir}/server.pem\nkeyfile {bench.dir}/server.key\n')
    bench.write('secret', 'wrong\n')
    file = bench.write('tls.yaml', f'mqtt: {{url: "mqtts://127.0.0.1:{secure}", username: merge, passwordFile: {bench.dir}/secret, '
                                   f'caFile: {bench.dir}/ca.pem, longestBackoff: 1}}\n')
    child = bench.merge('--config', file, '--counts', '0.2', has_url=False)
    child.wait_stderr('the broker refused the session')
    bench.write('secret', 'right\n')
    child.wait_event('ready', 180)
    heard = bench.subscribe('fleet/devices/+')
    publish(bench, 'jelling/g/devices/x', *(document('g', address(n)) for n in range(30)))
    child.wait_stderr('does not let this one publish fleet/devices/+')
    assert not heard.messages and count(child, 'merged') == 0
    bench.write('acl', rules + 'topic write fleet/devices/#\n')
    os.chmod(bench.path('acl'), 0o644)
    bench.broker.process.send_signal(signal.SIGHUP)
    wait_until(lambda: len(set(keys(heard.messages))) == 30, 'all of them')
    child.ends_well()


WRONG = (
    ('mqtt: {}', 'mqtt.url: the broker is missing'),
    ('mqtt: {url: "http://b"}', 'mqtt.url: mqtt://'),
    ('mqtt: {url: "mqtt://b", caFile: DIR/none}', 'mqtt.caFile: only with mqtts://'),
    ('mqtt: {url: "mqtts://b", caFile: DIR/none}', 'mqtt.caFile: DIR/none cannot be read: No such file'),
    ('mqtt: {url: "mqtts://b", caFile: DIR/text}', 'mqtt.caFile: DIR/text has no certificate in PEM form'),
    ('mqtt: {url: "mqtts://b", certFile: DIR/text}', 'mqtt.certFile and mqtt.keyFile belong together'),
    ('mqtt: {url: "mqtt://b", passwordFile: DIR/text}', 'mqtt.username: a password needs a user'),
    ('mqtt: {url: "mqtt://a@b", passwordFile: DIR}', 'mqtt.passwordFile: DIR cannot be read: Is a directory'),
    ('mqtt: {url: "mqtt://b", version: "3.1.1"}', 'mqtt.version: only "5"'),
    ('mqtt: {url: "mqtt://b", qos: 1}', 'mqtt.qos: unknown key; known: url,'),
    ('mqtt: {url: "mqtt://b", inFlight: 1e99}', 'mqtt.inFlight: a whole number from 1 to 1000'),
    ('name: a/b\nmqtt: {url: "mqtt://b"}', 'name: a level of a topic'),
    ('topics: {device: "fleet/{gateway}/{address}"}\nmqtt: {url: "mqtt://b"}', 'topics.merged: topics.device includes'),
    ('topics: {best: "fleet/best"}\nmqtt: {url: "mqtt://b"}', 'topics.best: one level has to be {address}'),
    ('handover: 4', 'handover: a mapping is wanted'),
    ('handover: {margin: .nan}', 'handover.margin: a number from 0 to 100'),
    ('- 1', 'the settings: a mapping is wanted'),
    ('a: [', 'while parsing'),
)


# Prints why each file is refused.
REFUSALS = '''import sys
from jelling_merge import settings
for path in sys.argv[1:]:
    try:
        settings.of(settings.parser().parse_args(['--config', path]))
        print()
    except settings.Wrong as error:
        print(error)'''


def test_settings(bench):
    """wrong settings name the key; right ones are right; --help says what there is"""
    bench.write('text', 'text\n')
    environment = {'PATH': os.environ['PATH'], 'LANG': 'C.UTF-8'}

    def run(*arguments):
        done = subprocess.run([PYTHON, MERGE, *arguments], capture_output=True, text=True, env=environment)
        return done.returncode, done.stdout + done.stderr
    files = [bench.write(f'wrong{n}.yaml', text.replace('DIR', bench.dir)) for n, (text, _) in enumerate(WRONG)]
    said = subprocess.run([PYTHON, '-c', REFUSALS, *files], cwd=os.path.dirname(MERGE), capture_output=True, text=True, check=True).stdout.splitlines()
    for (text, wanted), line in zip(WRONG, said, strict=True):
        assert wanted.replace('DIR', bench.dir) in line, f'{text}: {line}'
    assert run('--check', '--config', files[0])[0] == 2
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-subj', '/CN=x'],
                   cwd=bench.dir, check=True, capture_output=True)
    bench.write('password', 'secret')
    shutil.copy(bench.path('cert.pem'), bench.path('ca.pem'))
    with open(os.path.join(ROOT, 'Documentation', 'Fleet.md'), encoding='utf-8') as f:
        shown = re.search(r'```yaml\n(.*?)```', f.read(), re.S)[1].replace('/etc/jelling-merge', bench.dir)
    assert run('--check', '--config', bench.write('shown.yaml', shown)) == (0, 'jelling-merge: the settings are right\n')
    assert run('--check', '--mqtt', 'mqtt://localhost') == (0, 'jelling-merge: the settings are right\n')
    assert 'a dead one' not in run('--help')[1] and '--mqtt-password-file' in run('--help')[1]


def test_gateways(bench):
    """two gateways hear one device: its documents come from the one that hears it better, whatever the other says"""
    bench.start_broker()
    heard, child = bench.subscribe('fleet/devices/+'), consumer(bench, 'handover: {margin: 6, time: 0}')
    radios = [bench.scripted_radio(f'radio{n}') for n in range(2)]
    gateways = [bench.start('--config', bench.write(f'g{n}.yaml', f'name: g{n}\nadapters: ["{r.socket}"]\nmqtt: {{url: "{bench.url}"}}\n'
                                                    'publish: {interval: 0}\nsmoothing: {time: 0.01}\n')) for n, r in enumerate(radios)]
    device = 'A4:C1:38:00:00:01'

    def say(number, celsius, rssi):
        radios[number].say(device, f'02010609 16d2fc4002{celsius.to_bytes(2, "little").hex()}'.replace('09 16', '0716'), rssi)
    found = lambda: [(d['gateway'], d['values']['temperature']) for d in (json.loads(p) for _, p, _ in heard.messages)]
    expected = []
    for number, celsius, rssi, is_merged in ((0, 2000, -60, 1), (1, 2001, -62, 0), (0, 2002, -70, 1), (1, 2003, -62, 1), (0, 2004, -70, 0), (1, 2005, -62, 1)):
        before = count(child, 'documents')
        say(number, celsius, rssi)
        wait_until(lambda: count(child, 'documents') > before, f'document {celsius}')
        expected += [(f'g{number}', celsius / 100)] * is_merged
        wait_until(lambda: found() == expected, lambda: f'{expected}, found {found()}')
        time.sleep(0.2)
    for gateway in gateways:
        gateway.end()
    child.ends_well()
