"""Cases of the peripheral role: tools that serve side by side, and what none of them can do to the others."""
import json, os, pathlib, re, signal, subprocess, tempfile, time

from jelling import floods
from jelling.child import Child
from jelling.daemon import LIMIT, NOBODY, Daemon, Running, bletool, grows_less_than, messages, octets
from jelling.programs import BLETOOL, CONTROLLERS

LIMIT_REACHED, NOT_CONNECTED, NOT_PERMITTED, INCLUDED_UNKNOWN, UNKNOWN_SERVICE, NOT_OPEN, INVALID_SPSM = (
    messages.Failure.Reason.Value(f'REASON_{name}') for name in (
        'LIMIT_REACHED', 'NOT_CONNECTED', 'NOT_PERMITTED', 'INCLUDED_SERVICE_UNKNOWN', 'UNKNOWN_SERVICE', 'CHANNEL_NOT_OPEN',
        'CHANNEL_INVALID_SPSM'))
READ, WRITE, NOTIFY = 0x02, 0x08, 0x10


class Air(Daemon):
    """A daemon and a central on one air."""

    def __init__(self, **more):
        self.sockets = tempfile.TemporaryDirectory()
        self.hosts = [f'unix:{self.sockets.name}/hci{number}' for number in range(2)]
        self.controllers = subprocess.Popen([CONTROLLERS, *self.hosts], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            text=True)
        ready = json.loads(self.controllers.stdout.readline().removeprefix('READY '))
        self.addresses = [address.removesuffix('/P') for address in ready['addresses']]
        super().__init__(adapter=self.hosts[0], **more)

    def __exit__(self, *what):
        try:
            super().__exit__(*what)
        finally:
            self.controllers.terminate()
            self.controllers.wait(LIMIT)
            self.sockets.cleanup()

    def central(self, *words):
        """What bletool prints on the other controller."""
        code, out, said = bletool(self.hosts[1], '--state', self.place('central'), *words)
        assert code == 0, (words, out, said)
        return out

    def read(self, *uuids):
        """Of the values here."""
        out = self.central('--json', 'gatt', self.addresses[0], 'read', *uuids)
        return [json.loads(line)['value'] for line in out.splitlines()]

    def servers(self):
        """How many programs have services."""
        return len([client for client in self.status()['clients'] if client['services']])

    def discovered(self):
        """The services that a central finds here, by their UUIDs."""
        return [service['uuid'] for service in json.loads(self.central('--json', 'gatt', self.addresses[0], 'discover'))['services']]

    def serve(self, name, *services, options=()):
        """bletool serve: the process, once it advertises; each service has a value that is read, written and sent."""
        profile = {'services': [{'uuid': uuid, 'characteristics': [
            {'uuid': f'2A{number:02X}', 'properties': ['read', 'write', 'notify'], 'permissions': ['readable', 'writeable'],
             'value': value, 'notifyEvery': 0.2}]} for uuid, number, value in services]}
        path = self.place(name + '.json')
        pathlib.Path(path).write_text(json.dumps(profile))
        server = Child(name, [BLETOOL, '-t', f'bled:{self.path}', '--json', *options, 'serve', '--profile', path, '--name', name],
                       self.place(f'served{time.monotonic_ns()}'))
        server.wait_event('advertising', LIMIT)
        return server


def test_two_servers():
    """two tools serve at once: a central finds both, each hears of its own alone, and the one that leaves takes only its own away"""
    with Air() as air:
        one, two = air.serve('One', ('180F', 0x19, '64')), air.serve('Two', ('181A', 0x6E, 'c409'))
        assert {'180F', '181A'} <= set(air.discovered()), air.discovered()
        air.central('gatt', air.addresses[0], 'write', '2A6E', '0102')
        assert air.read('2A19', '2A6E') == ['64', '0102']
        assert not one.events('written') and [line['value'] for line in two.events('written')] == ['0102'], (
            one.events('written'), two.events('written'))
        # A subscriber of the first stays one when the second is killed.
        with Running([BLETOOL, '-t', air.hosts[1], '--json', 'gatt', air.addresses[0], 'subscribe', '2A19',
                      '--count', '1000000']) as reader:
            assert reader.stdout.readline()
            air.wait_for('the first hears of its subscriber', lambda: one.events('subscribed'))
            assert not two.events('subscribed'), two.events('subscribed')
            assert two.end(signal.SIGKILL) != 0
            air.wait_for('bled notices', lambda: air.servers() == 1)
            for _ in range(10):
                assert reader.stdout.readline(), 'the subscription ended with the other server'
        air.wait_for('the link has ended', lambda: one.events('disconnected'))
        assert '181A' not in air.discovered() and '180F' in air.discovered()
        assert one.end(signal.SIGINT) == 0

        def is_at_rest():
            adapter = air.status()['adapters'][0]
            return not adapter['advertising'] and not adapter['wanted'] and not adapter['links']

        air.wait_for('nobody serves or advertises any more', is_at_rest)


def test_name_of_a_leaver():
    """a tool that leaves, and stays connected, gives back the name that it gave the device"""
    with Air() as air:
        serving = air.serve('Base', ('180F', 0x19, '64'))

        def name():
            return bytes.fromhex(air.read('2A00')[0]).decode()

        base = name()
        tool = air.connect()
        tool.done(set_device_name='Guest')
        assert name() == 'Guest', name()
        tool.request(leave={})
        air.wait_for('the name is back', lambda: name() == base)
        assert serving.end(signal.SIGINT) == 0
        tool.socket.close()


def test_server_and_app():
    """a tool and an app of Core Bluetooth serve at once: each has its own services, and one that leaves takes only its own away"""
    with Air() as air:
        tool = air.serve('Tool', ('180F', 0x19, '64'))
        with air.app('transfer-peripheral') as app:
            app.wait_for('advertising')
            text = 'E20A39F4-73F5-4BC4-A12F-17D1AD07A961'
            air.wait_for('both are found', lambda: {'180F', text} <= set(air.discovered()))
            assert tool.end(signal.SIGINT) == 0
            found = air.discovered()
            assert text in found and '180F' not in found, found
            tool = air.serve('Again', ('181A', 0x6E, 'c409'))
        air.wait_for('the services of the app are gone', lambda: text not in air.discovered())
        assert '181A' in air.discovered()
        assert tool.end(signal.SIGINT) == 0


def test_server_is_killed():
    """bled is killed under a tool that serves: it ends with an error that says so; a new bled serves nothing of it"""
    with Air() as air:
        tool = air.serve('Tool', ('180F', 0x19, '64'))
        air.kill()
        code, said = tool.process.wait(LIMIT), tool.stderr()
        assert code == 1 and 'bled' in said, (code, said)
        air.start()
        air.wait_for('bled is back', lambda: bletool(f'bled:{air.path}', 'status')[0] == 0)
        air.wait_for('the controller is ready', lambda: air.status()['adapters'][0]['ready'])
        assert not air.status()['adapters'][0]['wanted']


def characteristic(uuid, properties=READ | WRITE | NOTIFY, permissions=0b11):
    return {'uuid': bytes.fromhex(uuid), 'properties': properties, 'permissions': permissions}


def publish(client, uuid='180F', **more):
    """The handles of a service with one characteristic: of the service, of the value."""
    end = client.done(publish={'uuid': bytes.fromhex(uuid), 'is_primary': True, 'characteristics': [characteristic('2A19')], **more})
    assert end.HasField('published'), end
    service = end.published
    return service.range.first, service.characteristics[0].value_handle


def reason(client, **request):
    """Why a request fails."""
    end = client.done(**request)
    assert end.HasField('failure'), (request, end)
    return end.failure.reason


CHANNELS = {'maximum_transmission_unit': 100, 'maximum_payload_size': 100, 'credits': 4}
CONNECTABLE = {'is_connectable': True, 'resumes_after_connection': True}


def test_no_server_reaches_into_another():
    """a tool can neither remove, include, update nor answer for another's service, nor use its channels, nor exceed its limits"""
    with Air(allow=[NOBODY]) as air:
        owner, thief = air.connect(), air.connect()
        service, value = publish(owner)
        assert reason(thief, remove_service=service) == UNKNOWN_SERVICE
        assert reason(thief, update_value={'handle': value, 'value': b'x'}) == UNKNOWN_SERVICE
        assert reason(thief, publish={'uuid': b'\x18\x1a', 'is_primary': True, 'included_services': [service]}) == INCLUDED_UNKNOWN
        for question in 0, 1, 2, 1 << 63:
            end = thief.done(respond={'question': question, 'value': b'stolen'})
            assert not end.accepted, end
        channel = {'link': 1 << 16 | 64, 'number': 1}
        for request in ({'send_on_channel': {'channel': channel, 'unit': b'x'}}, {'consume_on_channel': {'channel': channel, 'units': 1}},
                        {'close_channel': channel}):
            assert reason(thief, **request) == NOT_OPEN, request
        assert reason(thief, open_channel={'link': 1 << 16 | 64, 'spsm': 0x80, 'settings': CHANNELS}) == NOT_CONNECTED
        assert reason(thief, stop_listening=0x81) == INVALID_SPSM
        # The same SPSM only once; and so many advertisements, services, attributes and channels.
        listening = owner.done(listen={'spsm': 0x81, 'settings': CHANNELS})
        assert listening.listening == 0x81, listening
        assert reason(thief, listen={'spsm': 0x81, 'settings': CHANNELS}) == INVALID_SPSM
        for _ in range(16):
            assert thief.done(listen={'settings': CHANNELS}).HasField('listening')
        assert reason(thief, listen={'settings': CHANNELS}) == LIMIT_REACHED
        for _ in range(64):
            publish(thief, '181A')
        assert reason(thief, publish={'uuid': bytes.fromhex('181A'), 'is_primary': True}) == LIMIT_REACHED
        wide = air.connect()
        many = [characteristic('2A19')] * 520
        assert reason(wide, publish={'uuid': b'\x18\x0f', 'characteristics': many}) == LIMIT_REACHED
        for _ in range(8):
            thief.request(advertise={'packed': {}, **CONNECTABLE})
        assert reason(thief, advertise={'packed': {}, **CONNECTABLE}) == LIMIT_REACHED
        # The owner's service is there, and what belongs to the thief ends with it.
        assert owner.done(update_value={'handle': value, 'value': b'y'}).accepted
        thief.socket.close()
        air.wait_for('it has left', lambda: air.servers() == 1)
        assert air.serve('Still', ('180D', 0x38, '01')).end(signal.SIGINT) == 0
        found = air_discovers(air, owner)
        assert found.count('180F') == 1 and '181A' not in found, found
        if os.geteuid() != 0:
            return
        plain = air.connect(NOBODY)
        assert not plain.welcome.is_operator
        # What it requires of pairings holds for its own.
        mitm = {'io_capability': 4, 'is_bonding': True, 'requires_authentication': True, 'allows_secure_connections': True,
                'minimum_key_size': 16, 'maximum_key_size': 16, 'initiator_keys': 7, 'responder_keys': 7}
        assert not plain.done(serve_pairing=mitm).HasField('failure')
        stranger = {'value': 1}
        for request in ({'set_device_name': 'Mine'}, {'remove_bond': stranger}, {'name_bond': {'identity': stranger, 'name': 'x'}},
                        {'capture': True}):
            assert reason(plain, **request) == NOT_PERMITTED, request


def air_discovers(air, advertiser):
    advertiser.request(advertise={'packed': {'local_name': 'Owner'}, **CONNECTABLE})
    return air.discovered()


def test_hostile_servers():
    """tools that publish and leave again and again, never answer, never read, or send nonsense harm themselves alone"""
    with Air() as air:
        victim = air.serve('Victim', ('180F', 0x19, '64'))
        with grows_less_than(air, 64):
            # Every request of serving with nonsense in it: refused, or the end of that client.
            for request in (
                    {'advertise': {}}, {'advertise': {'packed': {}, 'interval': 1}}, {'publish': {}}, {'publish': {'uuid': b'x'}},
                    {'publish': {'uuid': b'\x18\x0f', 'characteristics': [{'uuid': b'\x2a\x19', 'properties': 999}]}},
                    {'remove_service': 1 << 20}, {'respond': {}}, {'update_value': {'handle': 1 << 20}}, {'serve_pairing': {}},
                    {'remove_bond': {'value': 1 << 63}}, {'listen': {'spsm': 1 << 20}}, {'open_channel': {}},
                    {'advertise': {'raw': {'advertisement': b'x' * 32}, 'is_connectable': True}}):
                client = air.connect()
                end = client.done(**request)
                assert end is None or end.HasField('failure'), (request, end)
                client.socket.close()
            for _ in range(50):
                client = air.connect()
                for _ in range(20):
                    client.request(publish={'uuid': bytes.fromhex('181A'), 'is_primary': True, 'characteristics': [characteristic('2A6E')]})
                client.request(advertise={'packed': {'local_name': 'Flood'}, **CONNECTABLE})
                client.socket.close()
            # Asks to be asked, and never answers: the central's request ends, and the victim goes on serving.
            silent = air.connect()
            publish(silent, '181A')
            half = air.connect()
            half.socket.sendall(b'\xff\0\0\0\x12')
            stuck = air.connect()
            publish(stuck, '1809')
            # It is not heard any more when its answers fill its socket.
            floods.fill(stuck, lambda number: octets(request={'operation': stuck.number + number, 'update_value': {'handle': 1, 'value': b'x'}}))
            air.wait_for('the flood has left', lambda: air.servers() <= 3)
            assert air.read('2A19') == ['64']
            assert '181A' in air.discovered()
            assert victim.end(signal.SIGINT) == 0


def test_capture_beside_an_app():
    """-w of a tool holds what crosses HCI while it runs, of the app beside it as well, and no key"""
    with Air() as air:
        path = air.place('serve.btsnoop')
        with air.app('transfer-peripheral') as app:
            app.wait_for('advertising')
            tool = air.serve('Tool', ('180F', 0x19, '64'), options=['-w', path])
            for words in ['pair', air.addresses[0], '--yes'], ['gatt', air.addresses[0], 'read', '2A19']:
                air.central(*words)
            assert tool.end(signal.SIGINT) == 0
        kept = b''
        for folder, _, names in os.walk(air.place('central')):
            for name in names:
                kept += pathlib.Path(os.path.join(folder, name)).read_bytes()
        captured = pathlib.Path(path).read_bytes()
        code, out, said = bletool('sim', 'decode', path)
        assert code == 0 and 'Pairing Request' in out and 'ATT Read Request' in out, said
        # LE Enable Encryption and the reply with the long term key have zeros where the key was.
        replies = [captured[at:at + 22] for at in range(len(captured)) if captured.startswith(b'\x01\x1a\x20\x12', at)]
        assert replies and all(reply[6:22] == bytes(16) for reply in replies), replies
        keys = found_keys(kept)
        assert keys, 'the central has stored no key'
        assert not [key for key in keys if key in captured or key[::-1] in captured], 'a key was captured'
        print(f'{len(keys)} keys looked for')


def found_keys(store):
    """Every key of a bond store, as octets."""
    return [bytes.fromhex(text.decode()) for text in re.findall(rb'\b([0-9a-f]{32})\b', store)
            if text.strip(b'0')]
