"""`bletool bridge`: a controller for another program, with clients that go, break and attack. `--through-bridge` runs the other cases over one."""
import os, random, signal, socket, struct, time

from pytest import mark

from jelling.child import PATIENCE, wait_until
from jelling.lab import REMOTE_USER_TERMINATED

pytestmark = mark.lab(through_bridge=False)

RESET = bytes([1, 3, 0x0C, 0])
KINDS = ('simulator', 'bumble')


def connected(tool):
    host, port = tool.wait_event('bridgeReady')[0]['listen'].removeprefix('tcp:').rsplit(':', 1)
    client = socket.create_connection((host, int(port)))
    client.settimeout(PATIENCE)
    return client


def clients(tool, state):
    return [l for l in tool.events('bridgeClient') if l['state'] == state]


def bridge(lab):
    tool = lab.start('bridge', '--listen', '0')
    return tool, tool.wait_event('bridgeReady')[0]['listen']


def is_over(client):
    """Until the bridge has closed the connection; what it sent before."""
    came = b''
    try:
        while data := client.recv(65536):
            came += data
    except ConnectionError:
        pass
    return came


def flood(client, packet, megabytes=4):
    """Sends until nothing is taken any more; the octets that were."""
    client.setblocking(False)
    sent, still = 0, 0
    while sent < megabytes << 20 and still < 20:
        try:
            sent += client.send(packet * 500)
            still = 0
        except BlockingIOError:
            still += 1
            time.sleep(0.05)
        except ConnectionError:
            break
    return sent


@mark.lab(KINDS)
def test_bridge_ends_links_of_a_killed_client(lab):
    """A client that is killed: the device hears that the link ends, and the next client finds a controller without links"""
    tool, at = bridge(lab)
    lab.every_link_ends_by_us = True
    client = lab.start('gatt', 'BumblePeer', 'subscribe', '2A37', via=at)
    client.wait_event('notified')
    client.end(signal.SIGKILL)
    assert lab.wait_peer('disconnected')[0]['reason'] == REMOTE_USER_TERMINATED
    assert lab.gatt('read', '2A19', via=at).events('value')[0]['value'] == '57'
    lab.stop(tool)


@mark.lab(KINDS)
def test_bridge_lost_network(lab):
    """A network that is cut ends the link at the device and the command at the client, which says so"""
    tool = lab.start('bridge', '--listen', f'unix:{lab.path("bridge")}')
    at = tool.wait_event('bridgeReady')[0]['listen']
    lab.endpoint, controller = at, lab.endpoint
    relay = lab.relay()
    lab.endpoint = controller
    client = lab.start('gatt', 'BumblePeer', 'subscribe', '2A37', via=relay.endpoint)
    client.wait_event('notified')
    relay.cut()
    done = lab.finish(client)
    assert done.status == 1 and done.events('error'), done.describe()
    assert lab.wait_peer('disconnected')[0]['reason'] == REMOTE_USER_TERMINATED
    lab.gatt('read', '2A19', via=at)
    lab.stop(tool)
    assert not os.path.exists(lab.path('bridge'))


@mark.lab(KINDS, peer=False)
def test_bridge_has_one_client(lab):
    """A second client is refused at once, and told in the log; the first goes on"""
    tool, at = bridge(lab)
    first = connected(tool)
    first.sendall(RESET)
    assert first.recv(64)[:3] == bytes([4, 0x0E, 4])
    second = connected(tool)
    assert is_over(second) == b''
    refused = tool.wait_for(lambda l: l.get('state') == 'refused', 'refused')[0]
    assert 'uses the controller' in refused['reason']
    lab.run('info', via=at, status=3)
    first.sendall(RESET)
    assert first.recv(64)[:3] == bytes([4, 0x0E, 4])
    first.close()
    lab.run('info', via=at)
    lab.stop(tool)


@mark.lab(('simulator',), peer=False)
def test_bridge_survives_hostile_clients(lab):
    """Garbage, half a packet, an event and floods end with a message or are not read, and the next client finds a working controller"""
    tool, at = bridge(lab)
    chance = random.Random(7)

    def attacked(name, reason, attack):
        before = len(clients(tool, 'ended'))
        client = connected(tool)
        attack(client)
        if reason:
            is_over(client)
        client.close()
        told = wait_until(lambda: clients(tool, 'ended')[before:], f'{name} is over')[0]['reason']
        assert reason is None or reason in told, f'{name}: {told}'
        lab.run('info', via=at)

    attacked('garbage', 'not H4', lambda c: c.sendall(b'GET / HTTP/1.1\r\n\r\n'))
    attacked('an event', 'only controllers send', lambda c: c.sendall(bytes([4, 0x0E, 4, 1, 3, 0x0C, 0])))
    attacked('half a packet', None, lambda c: c.sendall(RESET[:3]))
    attacked('half a long packet', None, lambda c: c.sendall(struct.pack('<BHH', 2, 1, 65535) + bytes(1000)))
    for _ in range(20):
        attacked('random octets', None, lambda c: c.sendall(chance.randbytes(chance.randrange(1, 2000))))
    memory = lambda: int(next(l for l in open(f'/proc/{tool.process.pid}/status') if l.startswith('VmRSS')).split()[1])
    # Commands that are answered, to one who reads no answers; data for no link, which nothing completes.
    attacked('a flood of commands', None, lambda c: flood(c, RESET))
    taken = []
    attacked('a flood of data', None, lambda c: taken.append(flood(c, struct.pack('<BHH', 2, 0x0FFF, 27) + bytes(27), 64)))
    assert taken[0] < 32 << 20, f'{taken[0]} octets of a flood were taken'
    assert memory() < 100_000, f'{memory()} kB after the floods'
    assert tool.process.poll() is None
    lab.stop(tool)


@mark.lab(('simulator',), peer=False)
def test_bridge_silent_client(lab):
    """A client that says nothing, or never ends its first packet, does not keep the controller"""
    tool, at = bridge(lab)
    client = connected(tool)
    client.sendall(RESET[:2])
    assert is_over(client) == b''
    assert tool.wait_for(lambda l: l.get('state') == 'ended', 'ended')[0]['reason'] == 'it has sent nothing for 10 s'
    lab.run('info', via=at)
    lab.stop(tool)


@mark.lab(('simulator',), peer=False)
def test_bridge_lost_controller(lab):
    """A controller that is lost ends its client; it is opened again for the next one"""
    relay = lab.relay()
    tool = lab.start('bridge', '--listen', '0', via=relay.endpoint)
    at = tool.wait_event('bridgeReady')[0]['listen']
    lab.run('info', via=at)
    client = connected(tool)
    client.sendall(RESET)
    client.recv(64)
    for end in relay.open:
        end.shutdown(socket.SHUT_RDWR)
    is_over(client)
    assert 'closed' in tool.wait_for(lambda l: l.get('state') == 'ended', 'ended', count=2)[-1]['reason']
    lab.run('info', via=at)
    lab.stop(tool)


@mark.lab(('simulator',), peer=False)
def test_bridge_stays_on_this_machine(lab):
    """An address that others reach is refused, with the way through ssh; so are transports that are not its own"""
    for address in '0.0.0.0:7000', '[::]:7000', '192.0.2.1:7000':
        error = lab.run('bridge', '--listen', address, status=2).events('error')[0]['message']
        assert 'ssh -N -L' in error, error
    for transport in 'raw:0', 'replay:/nonexistent', 'bled:/nonexistent':
        assert 'cannot be given away' in lab.run('bridge', '--listen', '0', via=transport, status=2).events('error')[0]['message']
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        error = lab.run('bridge', '--listen', str(taken.getsockname()[1]), status=2).events('error')[0]['message']
        assert 'in use by another program' in error
