"""Cases of operators: what the daemon is at, alerts, installing, packets, bonds, and whom all that is refused to."""
import contextlib, json, os, pathlib, shutil, signal, struct, subprocess, tempfile, threading

import pytest

from jelling import floods
from jelling.child import Running
from jelling.daemon import (
    LIMIT, NOBODY, RELAY, Daemon, alerted, as_user, bletool, ended, grows_less_than, needs_root, octets, operator, relay_manifest, started_as, state_of)
from jelling.programs import BLED, BLETOOL

GROUP = 54321


def test_status_of_the_daemon():
    """bletool status says who wants the scan, the advertisement and the link, why the radio is at rest, and counts"""
    profile = json.dumps({'services': [{'uuid': '180F', 'characteristics': [{'uuid': '2A19', 'properties': ['read']}]}]})
    with Daemon(apps=[relay_manifest()]) as daemon:
        adapter = daemon.status()['adapters'][0]
        assert adapter['transport'] == 'sim' and adapter['ready'] and adapter['wanted'] == [] and adapter['links'] == [], adapter
        out = daemon.tool('status')
        assert 'does not scan: nobody wants it' in out and 'does not advertise' in out, out
        path = daemon.place('profile.json')
        pathlib.Path(path).write_text(profile)
        daemon.operate(foreground=RELAY)
        commands = [['lescan', '--passive', '--duration', '3600'], ['serve', '--profile', path, '--name', 'Here'],
                    ['gatt', 'C0:DE:00:00:00:01/random', 'subscribe', '2A37']]
        with contextlib.ExitStack() as stack:
            programs = [stack.enter_context(daemon.running(*words, stdout=subprocess.DEVNULL)) for words in commands]
            scanner, server, reader = [f'bletool (process {program.pid})' for program in programs]

            def seen():
                now = daemon.status()
                adapter = now['adapters'][0]
                wanted = [(one['client'], one['work']) for one in adapter['wanted']]
                holders = [set(link['holders']) for link in adapter['links'] if link['role'] == 'central']
                kinds = {client['name']: client for client in now['clients']}
                return ((scanner, 'scan') in wanted and (server, 'advertise') in wanted and adapter['advertising']
                        and any({reader, RELAY} <= held for held in holders)
                        and kinds.get(server, {}).get('services') == 1 and kinds.get(RELAY, {}).get('kind') == 'app'
                        and now['apps'][0]['place'] == 'foreground')

            daemon.wait_for('all of it is told', seen)
            out = daemon.tool('status')
            assert f'{server} as ‘Here’' in out and 'held by ' in out, out
        daemon.wait_for('what they wanted is gone',
                        lambda: not [one for one in daemon.status()['adapters'][0]['wanted'] if 'bletool' in one['client']])


# Holds a link under a name that writes on a terminal.
PAINTER = r'''
import ctypes
ctypes.CDLL(None).prctl(15, b"\x1b]0;x\x07\x1b[2J", 0, 0, 0)
client = Client(sys.argv[1])
client.greeted()
client.connected(HEART)
print("holds", flush=True)
sys.stdin.read()
'''


def test_names_of_programs():
    """the name that a program gives itself writes nothing on the operator's terminal: neither as a client nor as who holds a link"""
    with Daemon() as daemon:
        with started_as(os.geteuid(), PAINTER, daemon) as program:
            assert program.stdout.readline() == 'holds\n'
            for words, escaped in (['status'], '\\u{1b}'), (['--json', 'status'], '\\u001b'):
                code, out, said = bletool(f'bled:{daemon.path}', *words)
                assert code == 0 and escaped in out, (out, said)
                assert '\x1b' not in out + said and '\x07' not in out + said, out
            out = daemon.tool('status')
            assert 'held by \\u{1b}]0;x' in out, out


@needs_root
def test_refused_to_others():
    """what operators may is refused in words to a user who may only connect; a member of the operators' group may all of it"""
    with Daemon(allow=[NOBODY], operators=GROUP) as daemon:
        tool = [BLETOOL, '-t', f'bled:{daemon.path}']
        manifest = daemon.place('manifest.json')
        verbs = [['status'], ['alerts'], ['alerts', 'answer', '1'], ['app', 'list'], ['app', 'install', manifest], ['bonds'],
                 ['unpair', '00:11:22:33:44:55'], ['monitor'], ['alerts', '--follow'], ['app', 'remove', 'org.example.mine']]
        pathlib.Path(manifest).write_text(json.dumps({'BundleIdentifier': 'org.example.mine', 'user': str(NOBODY)}))
        os.chmod(manifest, 0o644)
        for words in verbs:
            done = as_user(NOBODY, [], *tool, *words)
            assert done.returncode == 1 and '--operators' in done.stderr, (words, done)
        done = as_user(NOBODY, [], *tool, '-w', '/dev/null', 'gatt', 'Jelling Heart', 'read', '2A38')
        assert done.returncode in (1, 2, 3) and not done.stdout, done
        # It may do what is its own.
        done = as_user(NOBODY, [], *tool, 'gatt', 'Jelling Heart', 'read', '2A38')
        assert done.returncode == 0 and 'Chest' in done.stdout, done
        for words in verbs[:2] + verbs[3:6]:
            done = as_user(NOBODY, [GROUP], *tool, *words)
            assert done.returncode == 0, (words, done)
        assert 'org.example.mine' in daemon.operate(list={})
        # For itself: an app of root would run as root.
        pathlib.Path(manifest).write_text(json.dumps({'BundleIdentifier': 'org.example.root', 'user': 'root', 'command': ['/bin/true']}))
        done = as_user(NOBODY, [GROUP], *tool, 'app', 'install', manifest)
        assert done.returncode == 1 and 'may only install apps that run as that user' in done.stderr, done
        assert set(daemon.operate(list={})) == {'org.example.mine'}
        # And what is not its own stays.
        daemon.install({'BundleIdentifier': 'org.example.root', 'user': 'root', 'command': ['/bin/true']})
        daemon.install({'BundleIdentifier': 'org.example.unit', 'user': str(NOBODY), 'unit': 'relay.service'})
        assert len(daemon.operate(reload={})) == 3
        for name, word in ('org.example.root', 'may only remove apps that run as that user'), ('org.example.unit', 'systemd unit'):
            done = as_user(NOBODY, [GROUP], *tool, 'app', 'remove', name)
            assert done.returncode == 1 and word in done.stderr and not done.stdout, done
        assert len(daemon.operate(reload={})) == 3
        done = as_user(NOBODY, [GROUP], *tool, 'app', 'remove', 'org.example.mine')
        assert done.returncode == 0 and 'org.example.mine.json' in done.stdout, done
        assert set(daemon.operate(list={})) == {'org.example.root', 'org.example.unit'}


def test_install():
    """bletool app install checks a manifest and keeps it; show tells all of it; nonsense is refused and nothing is changed"""
    with Daemon() as daemon:
        transport = f'bled:{daemon.path}'
        path = daemon.place('manifest.json')

        def put(manifest):
            pathlib.Path(path).write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
            return bletool(transport, 'app', 'install', path)

        assert put(relay_manifest(roles=['central'], systemServices='shown', memoryMegabytes=300, wakeSeconds=7, adapter='sim',
                                  authorization='denied', mayPair=False, overflow='0xffff'))[0] == 0
        told, = daemon.lines('app', 'show', RELAY)
        assert told['roles'] == ['central'] and told['systemServices'] == 'shown' and told['overflow'] == '0xFFFF', told
        assert told['command'] == relay_manifest()['command'] and told['place'] == 'notRunning', told
        keys = ['adapter', 'manifestAdapter', 'unit', 'memoryMegabytes', 'wakeSeconds', 'authorization', 'mayPair']
        assert [told[key] for key in keys] == ['sim', 'sim', None, 300, 7, 'denied', False], told
        out = daemon.tool('app', 'show', RELAY)
        assert 'roles: central' in out and 'system services: shown' in out, out
        for row in ("adapter: sim (‘sim’ in the manifest)", 'memory: at most 300 MB', 'wake: 7 s at most', 'authorization: denied',
                    'pairing: may not ask a person', 'overflow area: 0xFFFF'):
            assert f'  {row}\n' in out, (row, out)
        # It is the file of a real installation: it outlives the daemon, and is replaced in place.
        daemon.kill()
        daemon.start()
        daemon.wait_for('bled is back', lambda: bletool(transport, 'status')[0] == 0)
        assert RELAY in daemon.operate(list={})
        unit = relay_manifest(unit='relay.service')
        del unit['command']
        if os.geteuid() == 0:
            assert put(unit)[0] == 0
            told, = daemon.lines('app', 'show', RELAY)
            keys = ['unit', 'command', 'manifestAdapter', 'memoryMegabytes', 'wakeSeconds', 'authorization', 'mayPair', 'roles']
            assert [told[key] for key in keys] == ['relay.service', [], None, None, 10, 'allowed', True,
                                                   ['central', 'peripheral']], told
        assert put(relay_manifest())[0] == 0
        assert sorted(os.listdir(daemon.apps)) == [f'{RELAY}.json'] == [name for name in os.listdir(daemon.apps)]
        for wrong, word in [('{', 'line 1'), ({'BundleIdentifier': '../up'}, 'slash'),
                            ({'BundleIdentifier': 'a', 'roles': ['king']}, 'king'),
                            ({'BundleIdentifier': 'a', 'systemServices': 'maybe'}, 'systemServices'),
                            ({'BundleIdentifier': 'a', 'overflow': '65535'}, 'overflow'),
                            ({'BundleIdentifier': 'a', 'user': 'no such user'}, 'no user'), (' ' * 70_000, '')]:
            code, _, said = put(wrong)
            assert code == 1 and word in said, (wrong, code, said)
        assert set(daemon.operate(list={})) == {RELAY}
        assert 'no app' in daemon.tool('app', 'show', 'org.example.unknown', status=1)


def test_remove():
    """bletool app remove ends an app, deletes its manifest and forgets it; with --keep-state it knows its devices again"""
    with Daemon(apps=[relay_manifest()]) as daemon:
        transport = f'bled:{daemon.path}'
        path = os.path.join(daemon.apps, f'{RELAY}.json')
        manifest = daemon.place('manifest.json')
        with open(path, 'rb') as source, open(manifest, 'wb') as copy:
            copy.write(source.read())

        def journal():
            names = [os.path.join(at, name) for at, _, names in os.walk(daemon.state) for name in names if name != 'processes']
            return b''.join(open(name, 'rb').read() for name in names)

        def run():
            daemon.tool('app', 'launch', RELAY)
            daemon.beats_more('it hears its sensor')
            assert RELAY.encode() in journal()
            return daemon.process_of(RELAY)

        process = run()
        told, = daemon.lines('app', 'remove', '--keep-state', RELAY)
        del told['time'], told['adapter']
        assert told == {'event': 'appRemoved', 'identifier': RELAY, 'files': [path], 'process': process,
                                      'ended': True, 'keepsState': True}, told
        daemon.wait_for('its process ends', lambda: state_of(process) == 'Z')
        assert daemon.operate(list={}) == {} and not os.path.exists(path)
        assert RELAY.encode() in journal()
        # What it had asked for has ended with it.
        daemon.wait_for('its links end', lambda: daemon.links() == [])
        daemon.tool('app', 'install', manifest)
        process = run()
        assert daemon.tool('app', 'remove', RELAY).splitlines() == [
            f'removed ‘{RELAY}’: deleted {path}', f'  ended process {process}',
            '  forgot what it had asked for, and by which identifiers it knew its devices',
            '  bonds stay: see ‘bletool bonds’']
        daemon.kill()
        daemon.start_again()
        assert daemon.operate(list={}) == {}
        assert RELAY.encode() not in journal(), journal()
        code, out, said = bletool(transport, 'app', 'remove', RELAY)
        assert (code, out) == (1, '') and f'no app ‘{RELAY}’ is installed' in said, (code, out, said)


def test_apps_folder():
    """bled does not start without the folder that --apps names, and says why; if the folder vanishes later, the apps stay"""
    with tempfile.TemporaryDirectory() as folder:
        for place, word in [('none', 'does not exist; correct ‘--apps’'), ('file', 'is not a folder')]:
            path = os.path.join(folder, place)
            if place == 'file':
                open(path, 'w').close()
            done = ended(BLED, '--adapter', 'sim', '--socket', os.path.join(folder, 's'), '--apps', path)
            assert done.returncode == 2 and word in done.stderr and path in done.stderr, done
        for option in '--socket', '--state', '--apps', '--config', '--cgroup', '-w':
            done = ended(BLED, '--adapter', 'sim', option, '')
            assert done.returncode == 2 and 'is empty' in done.stderr, (option, done)
    with Daemon(apps=[relay_manifest()]) as daemon:
        # It listens before it has read the folder for the first time.
        assert set(daemon.operate(list={})) == {RELAY}
        os.rename(daemon.apps, daemon.apps + '-away')
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_said('cannot be read')
        assert set(daemon.operate(list={})) == {RELAY}
        os.rename(daemon.apps + '-away', daemon.apps)


def test_unusable_files():
    """bled does not start with a scenario or capture that it cannot play, and says why"""
    with tempfile.TemporaryDirectory() as folder:
        wrong = os.path.join(folder, 'wrong')
        pathlib.Path(wrong).write_text('{"advertisers": 3}')
        for path in os.path.join(folder, 'none'), wrong:
            for kind in 'sim', 'replay':
                done = ended(BLED, '--adapter', f'{kind}:{path}', '--socket', os.path.join(folder, 's'))
                assert done.returncode == 2 and path in done.stderr, done


def test_alerts():
    ("an alert of a suspended app waits for the operator; accepting it brings the app to the foreground, and who follows hears of "
     "both")
    with Daemon() as daemon:
        transport = f'bled:{daemon.path}'
        assert bletool(transport, '--json', 'alerts')[:2] == (0, '')
        follower = operator(daemon.path, follow_alerts={})
        app = alerted(daemon.path)
        while not (message := follower.receive()).HasField('alert'):
            assert message is not None, 'no alert'
        alert = message.alert
        number, whose = alert.id, alert.app
        assert whose.endswith('org.example.alerted') and not alert.is_over, alert
        told, = daemon.lines('alerts')
        assert (told['id'], told['app'], told['kind'], told['over']) == (number, whose, 'connection', False), told
        assert 'no alert 999999' in daemon.tool('alerts', 'answer', '999999', status=1)
        daemon.tool('alerts', 'answer', str(number))
        while not (message := follower.receive()).HasField('alert'):
            assert message is not None, 'the end of the alert is not told'
        assert message.alert.is_over, message
        # In the foreground it hears of what happened.
        assert app.event('connected').peripheral.peer == app.found
        assert bletool(transport, '--json', 'alerts')[:2] == (0, '')
        daemon.tool('alerts', 'answer', str(number), status=1)


def test_monitor():
    """bletool monitor shows the daemon's traffic as it happens and writes it down, beside another program; -w of a tool likewise"""
    with Daemon() as daemon:
        path = daemon.place('monitor.btsnoop')
        lines = []
        with daemon.running('--json', '-w', path, 'monitor', stderr=subprocess.PIPE) as watcher:
            threading.Thread(target=lambda: lines.extend(watcher.stdout), daemon=True).start()
            daemon.wait_for('it watches', lambda: any(
                client['kind'] == 'operator' and client['process'] == watcher.pid for client in daemon.status()['clients']))
            own = daemon.place('own.btsnoop')
            assert 'Chest' in daemon.tool('-w', own, 'gatt', 'Jelling Heart', 'read', '2A38')
            daemon.wait_for('the read was seen', lambda: any('Read Response' in line for line in lines))
            watcher.send_signal(signal.SIGINT)
            assert watcher.wait(LIMIT) == 0, watcher.stderr.read()
        for capture in path, own:
            code, out, said = bletool('sim', 'decode', capture)
            assert code == 0 and 'ATT Read Request' in out and 'Value: 01' in out, (capture, out[-500:], said)
        assert 'error' not in daemon.tool('--json', 'monitor', '--duration', '1')
        # From the first packet that the tool caused: the scan for the name, or the connection.
        assert 'command' in bletool('sim', 'decode', own)[1]


@needs_root
def test_wireshark():
    """tshark lists the daemon's traffic as an interface, captures through it, and finds the read of another program"""
    folder = '/usr/lib/x86_64-linux-gnu/wireshark/extcap'
    if not shutil.which('tshark') or not os.path.isdir(folder):
        pytest.skip('tshark is missing: apt-get install tshark')
    with Daemon() as daemon, tempfile.TemporaryDirectory() as here:
        os.symlink(BLETOOL, os.path.join(here, 'jelling-bletool'))
        path = os.path.join(here, 'live.pcapng')
        # The folder of tshark is another one only for this program.
        words = ['unshare', '-m', 'sh', '-c', f'mount --bind {here} {folder} && tshark -D && exec tshark -l -P -i jelling-bled -w {path}']
        environment = {**os.environ, 'JELLING_TRANSPORT': f'bled:{daemon.path}'}
        lines = []
        with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as watcher:
            threading.Thread(target=lambda: lines.extend(watcher.stdout), daemon=True).start()
            # tshark does not say when its interface has begun.
            daemon.wait_for('the read was seen', lambda: daemon.tool('gatt', 'Jelling Heart', 'read', '2A38') and any(
                'Rcvd Read Response' in line for line in lines))
            watcher.send_signal(signal.SIGINT)
            assert watcher.wait(LIMIT) == 0, lines
        assert any('jelling-bled (Bluetooth of bled)' in line for line in lines), lines
        code, out, said = bletool('sim', 'decode', path)
        assert code == 0 and 'ATT Read Request' in out, (out[-500:], said)


def extcap(daemon, path, transport=None, **how):
    words = [BLETOOL, 'extcap', '--capture', '--extcap-interface', 'jelling-bled', '--fifo', path]
    return Running(words, env={**os.environ, 'JELLING_TRANSPORT': transport or f'bled:{daemon.path}'}, stderr=subprocess.PIPE, **how)


def test_wireshark_keeps_files():
    """A file in the place of the pipe keeps its content, and one that does not exist is made only once there is something to capture"""
    with Daemon() as daemon:
        path = daemon.place('mine.pcap')
        pathlib.Path(path).write_text('mine')
        with extcap(daemon, path) as tool:
            assert tool.wait(LIMIT) == 2 and 'has content' in tool.stderr.read()
        assert pathlib.Path(path).read_text() == 'mine'
        new = daemon.place('new.pcap')
        with extcap(daemon, new, 'bled:/nonexistent') as tool:
            assert tool.wait(LIMIT) == 3, tool.stderr.read()
        assert not os.path.exists(new)
        with extcap(daemon, new) as tool:
            daemon.wait_for('the header', lambda: os.path.exists(new) and os.path.getsize(new) >= 24)
            tool.terminate()
            assert tool.wait(LIMIT) == 0, tool.stderr.read()


def test_wireshark_that_does_not_read():
    """A pipe that nobody reads holds up neither the daemon nor the end of the capture, and what waits for it is bounded"""
    with Daemon() as daemon:
        path = daemon.place('pipe')
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with extcap(daemon, path) as tool:
            daemon.wait_for('it watches', lambda: any(
                client['kind'] == 'operator' and client['process'] == tool.pid for client in daemon.status()['clients']))
            for _ in range(3):
                daemon.tool('lescan', '--duplicates', '--duration', '2')
            status = pathlib.Path(f'/proc/{tool.pid}/status').read_text()
            memory = int(next(line for line in status.splitlines() if line.startswith('VmRSS')).split()[1])
            assert memory < 100_000, f'{memory} kB'
            assert os.read(reader, 65536)[:4] == b'\xd4\xc3\xb2\xa1'
            daemon.tool('lescan', '--duplicates', '--duration', '2')
            tool.terminate()
            assert tool.wait(LIMIT) == 0, tool.stderr.read()
        os.close(reader)


def test_stuck_operators():
    """operators who watch and never read, send garbage, half a frame or no end of requests harm themselves alone"""
    with Daemon() as daemon, daemon.app('heart-rate-central', '1000') as victim:
        victim.wait_for('beat', 2)
        with grows_less_than(daemon, 64):
            # Both watch packets while a scan of everything runs, and read nothing.
            stuck = [operator(daemon.path) for _ in range(2)]
            for client in stuck:
                client.send(operator_request={'capture': {}})
            half = operator(daemon.path)
            half.socket.sendall(b'\xff\0\0\0\x42')
            garbage = operator(daemon.path)
            garbage.socket.sendall(b'\x03\0\0\0\xff\xff\xff')
            assert garbage.receive() is None
            long = operator(daemon.path)
            long.socket.sendall(struct.pack('<I', 1 << 24))
            assert long.receive() is None
            # Requests without end and without reading: their answers fill the socket, and it is not heard any more.
            flood = operator(daemon.path)
            count, _ = floods.fill(flood, lambda _: octets(operator_request={'status': {}}))
            assert count < 1_000_000, 'it could flood without end'
            daemon.tool('lescan', '--duration', '2')
            victim.wait_for_more('beat', 2)
