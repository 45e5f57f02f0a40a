"""Cases of what users share, each with a real second uid: what one of them has, another one's programs do not take."""
import json, os, tempfile, threading, time

from google.protobuf.unknown_fields import UnknownFieldSet

from jelling import lab as bench
from jelling.daemon import HEART, NOBODY, OTHER, Daemon, alerted, as_user, bletool, needs_root, operator, started_as
from jelling.programs import BLETOOL
from daemon.test_pairing import NOT_PERMITTED, Program
from daemon.test_sharing import Peer


@needs_root
def test_configurations_of_users():
    """another user who writes a configuration by its handle, also without a response, does not end this one's subscription"""
    with Daemon(allow=[NOBODY]) as daemon:
        transport = f'bled:{daemon.path}'
        characteristics = [one for line in daemon.lines('gatt', 'Jelling Heart', 'discover') for service in line.get('services', [])
                           for one in service['characteristics']]
        handle, = [descriptor['handle'] for one in characteristics if one['uuid'] == '2A37'
                   for descriptor in one['descriptors'] if descriptor['uuid'] == '2902']

        def values(count):
            while count:
                line = reader.stdout.readline()
                assert line, 'the subscription has ended'
                count -= json.loads(line)['event'] == 'notified'

        with daemon.running('--json', 'gatt', 'Jelling Heart', 'subscribe', '2A37') as reader:
            values(1)
            for words in ['write', hex(handle), '0000'], ['write', hex(handle), '0000', '--command'], ['write', hex(handle), '0100']:
                done = as_user(NOBODY, [], BLETOOL, '-t', transport, 'gatt', 'C0:DE:00:00:00:01/random', *words)
                assert done.returncode == 0, (words, done)
                values(3)


def parameters(interval, timeout):
    """Intervals of 1.25 ms, and a supervision timeout of 10 ms each."""
    return {'minimum_interval': interval, 'maximum_interval': interval, 'peripheral_latency': 0, 'supervision_timeout': timeout}


@needs_root
def test_link_of_users():
    """a user does not slow down a link that another user has, too, nor make it end sooner; it may make it faster, and alone do both"""
    with Daemon(allow=[NOBODY, OTHER]) as daemon:
        first, second = Program(daemon, OTHER), Program(daemon, NOBODY)
        links = [program.done(connect={'peer': HEART, 'establishment_retries': 5}).link for program in (first, second)]
        changes = {'slow': {'update_parameters': {'link': links[1], 'parameters': parameters(3200, 3200)}},
                   'hasty': {'update_parameters': {'link': links[1], 'parameters': parameters(6, 10)}},
                   'PHY': {'procedure': {'link': links[1], 'set_phy': {'transmit': 4, 'receive': 4}}},
                   'octets': {'procedure': {'link': links[1], 'set_data_length': {'octets': 27, 'microseconds': 328}}}}
        refused = {name: second.reason(**change) for name, change in changes.items()}
        assert None not in refused.values() and len(set(refused.values())) == 1, refused
        second.done(update_parameters={'link': links[1], 'parameters': parameters(6, 3200)})
        first.done(disconnect={'link': links[0]})
        for name in 'slow', 'hasty':
            second.done(**changes[name])


# Seconds: a read over the slow link waits for an event or two, one in 4 s.
SLOW = 3


@needs_root
def test_slow_links_of_users():
    """a user who was on a link before, with the longest interval or a pace that idles, does not make it slow for one who comes later"""
    said = []
    with Daemon(allow=[NOBODY, OTHER]) as daemon:
        slow = parameters(3200, 3200)
        for name, asked in ('interval', {'parameters': slow}), ('pace', {'pace': {'busy': parameters(6, 3200), 'idle': slow, 'idle_microseconds': 500_000}}):
            first, second = Program(daemon, NOBODY), Program(daemon, OTHER)
            link = first.done(connect={'peer': HEART, 'establishment_retries': 5, **asked}).link
            if name == 'pace':
                # Idle: from now on every read takes seconds.
                time.sleep(2)
            link = second.done(connect={'peer': HEART, 'establishment_retries': 5}).link
            # The change itself waits for an event of the slow link, or several.
            daemon.wait_for('a fast link', lambda: 4 * duration(second, link) < SLOW)
            time.sleep(2)
            longest = max(duration(second, link) for _ in range(5))
            assert longest < SLOW, f'{name}: a read took {longest:.1f} s'
            said.append(f'{name}: {longest * 1000:.0f} ms at most')
            first.leave()
            second.leave()
            daemon.wait_for('the end of the link', lambda: not daemon.status()['adapters'][0]['links'])
    print(', '.join(said))


def duration(program, link):
    """Of a read."""
    began = time.monotonic()
    program.done(gatt={'link': link, 'read': 3})
    return time.monotonic() - began


SLOWING = """
app = AppClient(sys.argv[1], 'org.example.slowing', timeout=1000)
app.ask(create_peripheral={})
while (message := app.receive()) is not None:
    if message.app_notice.HasField('log'):
        print(message.app_notice.log, flush=True)
    if not message.HasField('app_event'):
        continue
    event = message.app_event
    app.returns(event)
    if event.state_changed.state == POWERED_ON:
        app.ask(add_service={'id': 1, 'uuid': b'\\x18\\x0f', 'is_primary': True, 'characteristics': [
            {'id': 2, 'uuid': b'\\x2a\\x19', 'properties': 2, 'permissions': 1}]})
    if event.HasField('service_added'):
        print('ready', flush=True)
    if event.HasField('read_request'):
        request = event.read_request
        # The highest latency, at the first read of its value.
        app.ask(set_latency={'central': request.central.peer, 'latency': 2})
        app.ask(respond={'request': request.request, 'value': b'd'})
"""


@needs_root
def test_latency_of_apps_of_users():
    """an app that is not installed does not raise the latency of a central that another user's program serves, too"""
    with bench.Lab('simulator', 2).open(peer=False) as lab:
        with Daemon(allow=[NOBODY, OTHER], adapter=lab.endpoint) as daemon, \
                started_as(OTHER, SLOWING, daemon) as app:
            assert app.stdout.readline() == 'ready\n'
            server = Program(daemon, NOBODY)
            beat = {'uuid': bytes.fromhex('2A37'), 'properties': 2, 'permissions': 1, 'value': b'beat'}
            server.done(publish={'uuid': bytes.fromhex('180D'), 'is_primary': True, 'characteristics': [beat]})
            server.request(advertise={'packed': {'local_name': 'Both'}, 'is_connectable': True, 'resumes_after_connection': True})

            code, out, said = bletool(lab.endpoints[1], 'gatt', 'Both', 'read', '2A19')
            assert code == 0, (out, said)
            assert 'was not changed' in app.stdout.readline()


PARAMETERS, DATA, ENABLE = 0x2036, 0x2037, 0x2039
DIRECTED = 0x04


def advertises_rudely(client):
    """Directed, raw, and a long name at the slowest pace."""
    connectable = {'is_connectable': True, 'resumes_after_connection': True}
    client.request(advertise={'packed': {}, 'target': {'peer': {'value': 0xC0DE_0000_0099, 'kind': 1}, 'form': 1}, **connectable})
    client.request(advertise={'raw': {'advertisement': bytes([2, 1, 6])}, **connectable})
    named = client.request(advertise={'packed': {'local_name': 'A name that takes all the room'}, 'interval': 0x4000, **connectable})
    while (message := client.receive()).advertising_room.operation != named:
        assert not message.HasField('completed'), 'refused'
    assert message.advertising_room.hides_name
    # What it asked for before has been carried out.
    client.done(cancel={'operation': 99})


@needs_root
def test_advertisements_of_users():
    ("another user's directed, raw and slow advertisements, and its long name, change nothing about a server's advertisement: they get "
     "a set of their own or wait, and its program is told")
    with Daemon(allow=[NOBODY]) as daemon:
        server = daemon.connect()
        server.request(advertise={'packed': {'local_name': 'Server', 'services': [bytes.fromhex('180D')]}, 'is_connectable': True, 'resumes_after_connection': True})
        while not (message := server.receive()).HasField('advertising_changed') or not message.advertising_changed:
            pass
        watcher = operator(daemon.path, capture={})
        other = daemon.connect(NOBODY)
        advertises_rudely(other)
        shared, own, is_asked = [], [], False
        while True:
            # A question whose packet ends the watch: Read Local Version Information.
            if not is_asked and any(opcode == PARAMETERS and parameters[1] & DIRECTED for opcode, parameters in own):
                server.request(hci_command={'opcode': 0x1001})
                is_asked = True
            packet = watcher.receive().packet
            octets = packet.octets
            if packet.is_from_controller or octets[0] != 1:
                continue
            opcode, parameters = int.from_bytes(octets[1:3], 'little'), octets[4:]
            if opcode == 0x1001:
                break
            if opcode in (PARAMETERS, DATA):
                (shared if parameters[0] == 0 else own).append((opcode, parameters))
            if opcode == ENABLE and parameters[0] == 0:
                assert parameters[2] != 0, 'the shared advertisement was switched off'
        for opcode, parameters in shared:
            assert opcode == DATA and b'Server' in parameters and b'\x0D\x18' in parameters, (hex(opcode), parameters)


CHANNELS_OF_USER = 24


@needs_root
def test_channels_of_users():
    """a user whose five programs open as many channels to a device as they can leaves another user some of the link's"""
    with bench.Lab('simulator', 2).open(peer=False) as lab:
        with Daemon(allow=[NOBODY, OTHER], adapter=lab.endpoint) as daemon, \
                Daemon(adapter=lab.endpoints[1]) as device:
            servers = [device.connect() for _ in range(4)]
            listening = [server.done(listen={}).listening for server in servers]
            servers[0].request(advertise={'packed': {'local_name': 'Device'}, 'is_connectable': True, 'resumes_after_connection': True})
            greedy, modest = [daemon.connect(NOBODY) for _ in range(5)], daemon.connect(OTHER)

            def opened(client, link, count):
                ends = [client.done(open_channel={'link': link, 'spsm': listening[place % 4]}) for place in range(count)]
                return sum(not end.HasField('failure') for end in ends)

            had = sum(opened(client, client.connected(client.found()), 16) for client in greedy)
            left = opened(modest, modest.connected(modest.found()), 4)
            assert (had, left) == (CHANNELS_OF_USER, 4), (had, left)


TOGGLING = """
client = Client(sys.argv[1], 1000)
client.greeted()
for number in range(10_000_000):
    wish = client.request(advertise={'packed': {'local_name': f'n{number % 10}'}, 'is_connectable': True, 'resumes_after_connection': True,
                                     'interval': 32 + number % 100})
    client.done(cancel={'operation': wish})
    if number == 100:
        print('ready', flush=True)
"""


@needs_root
def test_toggled_advertisements():
    """another user who advertises and ends it without pause takes a server's advertisement off the air a few times a second at most"""
    with Daemon(allow=[NOBODY]) as daemon:
        server = daemon.connect()
        server.request(advertise={'packed': {'local_name': 'Server'}, 'is_connectable': True, 'resumes_after_connection': True, 'interval': 160})
        while not (message := server.receive()).HasField('advertising_changed') or not message.advertising_changed:
            pass
        with started_as(NOBODY, TOGGLING, daemon) as other:
            assert other.stdout.readline() == 'ready\n'
            watcher = operator(daemon.path, capture={})
            ends, began = 0, time.monotonic()
            # The last packet: the answer to a question that comes after five seconds.
            timer = threading.Timer(5, lambda: server.request(hci_command={'opcode': 0x1001}))
            timer.start()
            while True:
                octets = decode_packet(watcher).packet.octets
                if octets[0] != 1:
                    continue
                opcode = int.from_bytes(octets[1:3], 'little')
                if opcode == 0x1001:
                    break
                # Set Advertising Enable, and the extended one for the first set.
                ends += opcode in (0x200A, ENABLE) and octets[4] == 0 and (opcode == 0x200A or octets[6] == 0)
            took = time.monotonic() - began
    assert ends <= 4 * took, f'{ends} times in {took:.1f} s'
    print(f'{ends} times in {took:.1f} s')


def decode_packet(watcher):
    while not (message := watcher.receive()).HasField('packet'):
        pass
    return message


@needs_root
def test_bonds_of_users():
    """a bond is its user's, as ‘bonds’ says, and ‘unpair --user’ removes all of one user and none of another"""
    with bench.Lab('bumble', 2).open(peer=False) as lab:
        lab.every_link_ends_by_us = False
        with Daemon(allow=[NOBODY], adapter=lab.endpoint) as daemon:
            transport = f'bled:{daemon.path}'
            peer = Peer(lab, 0x21)
            done = as_user(NOBODY, [], BLETOOL, '-t', transport, 'pair', f'{peer.address}/random', '--yes')
            assert done.returncode == 0, done
            bond, = daemon.lines('bonds')
            assert (bond['user'], bond['identity']) == (NOBODY, peer.address), bond
            assert 'no bond' in daemon.tool('unpair', '--user', 'root', status=1)
            done = as_user(NOBODY, [], BLETOOL, '-t', transport, 'unpair', '--user', str(NOBODY))
            assert done.returncode == 1 and '--operators' in done.stderr, done
            assert daemon.lines('unpair', '--user', 'nobody')[0]['identity'] == bond['identity']
            assert daemon.lines('bonds') == []


@needs_root
def test_names_of_bonds():
    """a name means the device that its user paired, never an impostor; another user neither knows nor names that bond"""
    with bench.Lab('bumble', 2).open(peer=False) as lab:
        lab.every_link_ends_by_us = False
        with Daemon(allow=[NOBODY, OTHER], adapter=lab.endpoint) as daemon, \
                tempfile.TemporaryDirectory() as homes:
            os.chmod(homes, 0o755)

            def tool(user, *words):
                home = os.path.join(homes, str(user))
                if not os.path.exists(home):
                    os.mkdir(home, 0o700)
                    os.chown(home, user, user)
                return as_user(user, [], 'env', f'HOME={home}', BLETOOL, '-t', f'bled:{daemon.path}', '--json', *words)

            lock = Peer(lab, 0x21, '--name', 'Lock')
            done = tool(NOBODY, 'pair', 'Lock', '--yes')
            assert done.returncode == 0 and 'also mean' not in done.stderr, done
            done = tool(NOBODY, 'gatt', 'Lock', 'write', '2A39', '01')
            assert done.returncode == 0 and f'‘Lock’ is {lock.address}/random, which is bonded' in done.stderr, done
            # It may use the bond, but the name is not its own.
            done = tool(OTHER, 'pair', 'Lock', '--yes')
            assert done.returncode == 0 and 'may also mean other devices' in done.stderr, done
            lock.child.end()
            impostor = Peer(lab, 0x66, '--name', 'Lock')
            done = tool(NOBODY, 'gatt', 'Lock', 'write', '2A39', '01', '--connect-timeout', '3')
            assert done.returncode == 1 and lock.address in done.stderr and impostor.address not in done.stderr, done
            # An operator, who has not paired it, is told of both.
            said = daemon.tool('gatt', 'Lock', 'write', '2A39', '01', status=1)
            assert lock.address in said and impostor.address in said, said
            assert not [line for line in impostor.child.lines if line.get('ev') in ('connected', 'write')], impostor.child.lines

            own, other = Program(daemon, NOBODY), Program(daemon, OTHER)
            named = lambda text: {'name_bond': {'identity': lock.wire, 'name': text}}
            bond, = own.welcome.bonds
            # Nothing of it is a key.
            assert bond.name == 'Lock' and bond.user == NOBODY and not list(UnknownFieldSet(bond)), bond
            assert not other.welcome.bonds and other.reason(**named('Mine')) == NOT_PERMITTED
            assert own.reason(**named('Door')) is None
            assert daemon.lines('bonds')[0]['name'] == 'Door'
            own.leave()
            other.leave()


@needs_root
def test_alerts_of_users():
    """apps of two users that want to alert their users of one connection each have an alert"""
    with Daemon(allow=[NOBODY]) as daemon:
        follower = operator(daemon.path, follow_alerts={})
        apps = [alerted(daemon.path, user) for user in (None, NOBODY)]
        names = set()
        while len(names) < 2:
            message = follower.receive()
            assert message is not None, names
            if message.HasField('alert'):
                names.add(message.alert.app)
        assert names == {'0/org.example.alerted', f'{NOBODY}/org.example.alerted'}, (names, apps)
