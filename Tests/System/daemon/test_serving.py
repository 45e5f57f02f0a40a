"""Cases of the peripheral role: tools that serve side by side, and what none of them can do to the others."""
import json, os, pathlib, re, signal, subprocess, tempfile, time

from jelling import floods
from jelling.child import Child
from jelling.daemon import LIMIT, Daemon, bletool, grows_less_than, octets
from jelling.programs import BLETOOL, CONTROLLERS

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


CONNECTABLE = {'is_connectable': True, 'resumes_after_connection': True}


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
