"""`bletool bridge`: a controller for another program, with clients that go, break and attack. `--through-bridge` runs the other cases over one."""
import contextlib, fcntl, getpass, os, random, re, shutil, signal, socket, struct, subprocess, threading, time

from pytest import mark, skip

from jelling.child import PATIENCE, free_port, wait_until
from jelling.daemon import NOBODY, PYTHON3, needs_root
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


@mark.lab(('simulator',), slow=True)
@needs_root
def test_bridge_silent_network(lab):
    """A network that falls silent, without the end of any connection, is found out by both ends in a minute, and the next client gets in"""
    network = lab.spawn('network', ['unshare', '-n', 'sh', '-c', 'ip link set lo up && echo \'{"event": "up"}\' && exec sleep 900'])
    network.wait_event('up')
    within = ['nsenter', '-t', str(network.process.pid), '-n']
    loopback = lambda state: subprocess.run([*within, 'ip', 'link', 'set', 'lo', state], check=True)
    at = 'tcp:127.0.0.1:7000'
    tool = lab.launch([*within, *lab.command('bridge', '--listen', '7000')])
    tool.wait_event('bridgeReady')
    client = lab.launch([*within, *lab.command('gatt', 'BumblePeer', 'subscribe', '2A37', via=at)])
    client.wait_event('notified')
    loopback('down')
    done = lab.finish(client, 5 * PATIENCE)
    assert done.status == 1 and done.events('error'), done.describe()
    assert lab.wait_peer('disconnected', timeout=5 * PATIENCE)[0]['reason'] == REMOTE_USER_TERMINATED
    ended = tool.wait_for(lambda l: l.get('state') == 'ended', 'ended', 5 * PATIENCE)[0]
    print(ended['reason'], '|', done.events('error')[0]['message'])
    loopback('up')
    read = lab.finish(lab.launch([*within, *lab.command('gatt', 'BumblePeer', 'read', '2A19', via=at)]))
    assert read.status == 0 and read.events('value')[0]['value'] == '57', read.describe()
    lab.stop(tool)


@mark.lab(('simulator',), peer=False)
def test_bridge_log_that_nobody_reads(lab):
    """Clients come and go, and many are refused, while nobody reads what the bridge says: each one is served, and refusals are counted"""
    tool = subprocess.Popen(lab.command('bridge', '--listen', '0'), stdout=subprocess.PIPE, env=lab.environment)
    try:
        fcntl.fcntl(tool.stdout, fcntl.F_SETPIPE_SZ, 4096)
        port = int(re.search(rb'tcp:127.0.0.1:(\d+)', tool.stdout.readline())[1])

        def served():
            """A client that got an answer; none while the one before is not gone yet."""
            client = socket.create_connection(('127.0.0.1', port))
            client.settimeout(PATIENCE)
            with contextlib.suppress(ConnectionError):
                client.sendall(RESET)
                if client.recv(64)[:3] == bytes([4, 0x0E, 4]):
                    return client
            client.close()

        # More lines than the pipe has room for.
        for _ in range(40):
            wait_until(served, 'a client is served').close()
        first = wait_until(served, 'a client is served')
        for _ in range(3):
            for _ in range(200):
                with contextlib.suppress(ConnectionError):
                    socket.create_connection(('127.0.0.1', port), PATIENCE).close()
            first.sendall(RESET)
            assert first.recv(64)[:3] == bytes([4, 0x0E, 4])
            time.sleep(1.1)
        first.close()
        said = []
        reader = threading.Thread(target=lambda: said.append(tool.stdout.read()), daemon=True)
        reader.start()
        wait_until(served, 'a client is served').close()
        tool.send_signal(signal.SIGINT)
        assert tool.wait(PATIENCE) == 0
        reader.join(PATIENCE)
        refused = [line for line in said[0].splitlines() if b'"refused"' in line]
        assert len(refused) < 100 and any(b'"others":' in line for line in refused), refused[-3:]
    finally:
        tool.kill()


@mark.lab(('simulator',), peer=False)
@needs_root
def test_bridge_other_user(lab):
    """Another user reaches neither the socket nor takes its place, and finds nothing of the one before at a port"""
    os.chmod(lab.dir, 0o755)
    path = lab.path('bridge')
    tool = lab.start('bridge', '--listen', f'unix:{path}')
    tool.wait_event('bridgeReady')
    other = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', PYTHON3, '-c']
    connect = 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])'
    refused = subprocess.run([*other, connect, path], capture_output=True, text=True, cwd='/')
    assert 'PermissionError' in refused.stderr, refused.stderr
    # What somebody has put at the path before stays, also a link to a place of ours.
    folder = lab.path('shared')
    os.mkdir(folder)
    os.chmod(folder, 0o1777)
    planted = os.path.join(folder, 'bridge')
    subprocess.run([*other, 'import os, sys; os.symlink(*sys.argv[1:])', lab.path('wanted'), planted], check=True, cwd='/')
    error = lab.run('bridge', '--listen', f'unix:{planted}', status=2).events('error')[0]['message']
    assert 'in use' in error and not os.path.exists(lab.path('wanted')), error
    lab.stop(tool)


@contextlib.contextmanager
def started(lab, name, *command):
    log = open(lab.path(f'{name}.log'), 'wb+')
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)


def is_open(port):
    with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 1):
        return True


@mark.lab(KINDS)
def test_bridge_through_ssh(lab):
    """A Unix socket that ssh forwards is the controller: a device is read, and killing ssh ends the link at the device and the command"""
    server = shutil.which('sshd', path='/usr/sbin:' + os.environ['PATH'])
    if not server or not shutil.which('ssh') or not shutil.which('ssh-keygen'):
        skip('sshd is missing: apt-get install openssh-server, which also starts it')
    for key in 'host', 'own':
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', lab.path(key)], check=True)
    shutil.copy(lab.path('own.pub'), lab.path('allowed'))
    port = free_port()
    if os.geteuid() == 0:
        os.makedirs('/run/sshd', exist_ok=True)
    tool = lab.start('bridge', '--listen', f'unix:{lab.path("bridge")}')
    tool.wait_event('bridgeReady')
    options = {'ListenAddress': '127.0.0.1', 'Port': port, 'HostKey': lab.path('host'), 'AuthorizedKeysFile': lab.path('allowed'),
               'StrictModes': 'no', 'PidFile': 'none', 'UsePAM': 'no', 'PermitRootLogin': 'yes'}
    words = [word for key, value in options.items() for word in ('-o', f'{key}={value}')]
    here = lab.path('adapter')
    with started(lab, 'sshd', server, '-D', '-e', '-f', '/dev/null', *words):
        wait_until(lambda: is_open(port), lambda: open(lab.path('sshd.log')).read())
        forward = ['ssh', '-N', '-F', 'none', '-p', str(port), '-i', lab.path('own'), '-o', 'StrictHostKeyChecking=no', '-o',
                   f'UserKnownHostsFile={lab.path("known")}', '-o', 'ExitOnForwardFailure=yes', '-L', f'{here}:{lab.path("bridge")}',
                   f'{getpass.getuser()}@127.0.0.1']
        with started(lab, 'ssh', *forward) as ssh:
            wait_until(lambda: os.path.exists(here), lambda: open(lab.path('ssh.log')).read())
            assert lab.gatt('read', '2A19', via=f'unix:{here}').events('value')[0]['value'] == '57'
            client = lab.start('gatt', 'BumblePeer', 'subscribe', '2A37', via=f'unix:{here}')
            client.wait_event('notified')
            ssh.kill()
            done = lab.finish(client)
            assert done.status == 1 and done.events('error'), done.describe()
        assert lab.wait_peer('disconnected', count=2)[1]['reason'] == REMOTE_USER_TERMINATED
    lab.gatt('read', '2A19', via=f'unix:{lab.path("bridge")}')
    lab.stop(tool)


@mark.lab(KINDS)
def test_bridge_through_stunnel(lab):
    """TLS with certificates of both sides, as the guide has it: a device is read, and one without the right certificate gets nothing"""
    program = shutil.which('stunnel') or shutil.which('stunnel4')
    if not program or not shutil.which('openssl'):
        skip('stunnel is missing: Tools/install peers')
    for name in 'server', 'client', 'stranger':
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', f'/CN={name}', '-keyout',
                        lab.path(f'{name}.key'), '-out', lab.path(f'{name}.pem')], check=True, capture_output=True)
        with open(lab.path(f'{name}.pem'), 'a') as pem, open(lab.path(f'{name}.key')) as key:
            pem.write(key.read())
    tool, at = bridge(lab)
    inner, outer = int(at.rsplit(':', 1)[1]), free_port()

    def stunnel(name, *lines):
        with open(lab.path(f'{name}.conf'), 'w') as file:
            file.write('\n'.join(['foreground = yes', 'pid =', f'cert = {lab.path(name)}.pem', '[bridge]', *lines, '']))
        return started(lab, f'stunnel-{name}', program, lab.path(f'{name}.conf'))

    def listens(name):
        said = lambda: open(lab.path(f'stunnel-{name}.log')).read()
        wait_until(lambda: 'Configuration successful' in said(), said)

    def client(name):
        port = free_port()
        return port, stunnel(name, 'client = yes', f'accept = 127.0.0.1:{port}', f'connect = 127.0.0.1:{outer}', 'verifyPeer = yes',
                             f'CAfile = {lab.path("server.pem")}')

    with stunnel('server', f'accept = 127.0.0.1:{outer}', f'connect = 127.0.0.1:{inner}', 'verifyPeer = yes', f'CAfile = {lab.path("client.pem")}'):
        listens('server')
        before = len(tool.events('bridgeClient'))
        port, far = client('stranger')
        with far:
            listens('stranger')
            lab.run('info', via=f'tcp:127.0.0.1:{port}', status=3)
        assert len(tool.events('bridgeClient')) == before, 'a stranger reached the bridge'
        port, far = client('client')
        with far as process:
            listens('client')
            assert lab.gatt('read', '2A19', via=f'tcp:127.0.0.1:{port}').events('value')[0]['value'] == '57'
            tool.wait_for(lambda l: l.get('state') == 'ended', 'ended')
            subscribed = lab.start('gatt', 'BumblePeer', 'subscribe', '2A37', via=f'tcp:127.0.0.1:{port}')
            subscribed.wait_event('notified')
            process.kill()
            done = lab.finish(subscribed)
            assert done.status == 1 and done.events('error'), done.describe()
        assert lab.wait_peer('disconnected', count=2)[1]['reason'] == REMOTE_USER_TERMINATED
    lab.run('info', via=at)
    lab.stop(tool)
