"""`bled` and `bletool` on adapters as people have them: without an address, two with one address, without LE, adapters that drop off.
The controllers are scripted; the kernel is real."""
import json, os, pathlib, signal, stat, subprocess, time

import pytest

from jelling.controller import RESET
from jelling.link import Device
from kernel.bled import LIMIT, RUNNING, SOCKET, STATE, TOOL, bled, end, said, scans, shell, start, tool, wait_until
from kernel.scripted import VERSION, Adapter

NOBODY, NONE, SHARED = 65534, '00:00:00:00:00:00', '00:1A:7D:DA:71:13'
ONE, TWO = 'C0:DE:00:00:00:01', 'C0:DE:00:00:00:02'
DATA = bytes([2, 1, 6, 7, 9]) + b'Lamp 1'


# What has been plugged in and not taken away.
PLUGGED = []


@pytest.fixture(autouse=True)
def state():
    shell(f'rm -rf {STATE}; mkdir -p {STATE}; chmod 700 {STATE}')
    yield
    # What a test that failed has left is in the way of the next one.
    for process in list(RUNNING):
        end(process, signal.SIGKILL)
    while PLUGGED:
        PLUGGED.pop().close()


def plugged(*addresses, **how):
    adapters = []
    for address in addresses:
        adapters.append(Adapter(address, **how))
        PLUGGED.append(adapters[-1])
        adapters[-1].plug()
    for number, adapter in enumerate(adapters):
        adapter.controller.add(Device(f'C4:00:00:00:00:0{number + 1}', random=True, data=DATA))
    return adapters


def heard(path):
    """The addresses of the devices that the controller behind a socket hears."""
    done = subprocess.run([TOOL, '-t', f'bled:{path}', '--json', 'lescan', '--duration', '2'], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=LIMIT)
    return {line['address'] for line in map(json.loads, done.stdout.splitlines()) if line.get('event') == 'discovered'}


def status():
    return json.loads(tool('--json', 'status')[1])['adapters'][0]


def close(daemon, adapters):
    end(daemon)
    for adapter in adapters:
        adapter.close()
        PLUGGED.remove(adapter)


def test_two_with_one_address():
    """`bled --adapter all` uses two adapters with one address, each with a socket and a folder of its own (A13)"""
    use_both(ONE)


def test_two_with_a_clones_address():
    """the same where it is the address that clones have (A13)"""
    use_both(SHARED)


def use_both(address):
    adapters = plugged(address, address)
    daemon = bled('--adapter', 'all')
    wait_until(lambda: os.path.exists(f'{SOCKET}.2') and scans() and scans(f'{SOCKET}.2'), 'both scan')
    both = heard(SOCKET), heard(f'{SOCKET}.2')
    assert sorted(map(len, both)) == [1, 1] and both[0] != both[1], both
    close(daemon, adapters)


def test_without_address():
    """`bled --adapter all` uses an adapter without an address, also one that is plugged in later (A9)"""
    adapters = plugged(NONE)
    daemon = bled('--adapter', 'all')
    wait_until(scans, 'it scans')
    assert not os.path.exists(f'{SOCKET}.2'), 'the adapter has two daemons'
    adapters += plugged(NONE)
    wait_until(lambda: os.path.exists(f'{SOCKET}.2') and scans(f'{SOCKET}.2'), 'the second one scans')
    close(daemon, adapters)


def test_another_number():
    """with `--adapter all`, two adapters that come back under each other's numbers keep their sockets and their state (A79)"""
    first, second = plugged(ONE, TWO)
    daemon = bled('--adapter', 'all')
    wait_until(lambda: os.path.exists(f'{SOCKET}.2') and scans() and scans(f'{SOCKET}.2'), 'both scan')
    before = heard(SOCKET), heard(f'{SOCKET}.2')
    numbers = first.index, second.index
    first.unplug()
    second.unplug()
    second.plug(waits=False)
    wait_until(lambda: second.index == numbers[0], 'the second one has the number of the first')
    wait_until(lambda: scans(f'{SOCKET}.2'), 'the second one scans again')
    first.plug(waits=False)
    wait_until(scans, 'the first one scans again')
    assert (heard(SOCKET), heard(f'{SOCKET}.2')) == before
    close(daemon, [first, second])


def test_leaves_on_reset():
    """an adapter that leaves its bus when bled resets it is started without a Reset after the second time (A5)"""
    adapter, = plugged(ONE)
    adapter.drops, before = RESET, adapter.plugs
    daemon = bled('--adapter', ONE)
    wait_until(scans, 'it scans')
    # Once proves nothing.
    assert adapter.plugs == before + 2, f'it left {adapter.plugs - before} times'
    assert 'waits longer' not in said(), said()
    close(daemon, [adapter])


def test_drops_off():
    """an adapter that leaves its bus whenever it is started is not started in a loop; that is told once, with what to do (A81)"""
    adapter, = plugged(ONE)
    adapter.drops = VERSION
    daemon = bled('--adapter', ONE)
    wait_until(lambda: 'bled waits longer between tries' in said(), 'bled says so')
    before = adapter.plugs
    time.sleep(30)
    # The pauses are 4 s and more by then.
    assert adapter.plugs - before < 5, f'{adapter.plugs - before} starts in 30 s'
    assert said().count('bled waits longer between tries') == 1, said()
    assert any('another port' in note for note in status()['notes']), status()
    # It behaves again, and an operator does not want to wait.
    adapter.drops = None
    assert tool('power', 'on')[0] == 0
    wait_until(scans, 'it scans')
    close(daemon, [adapter])


def test_classic_only():
    """an adapter without LE is passed over by bled and bletool, which say so; alone, it is named as what it is (A8)"""
    adapters = plugged(ONE, has_le=False)
    done = subprocess.run([TOOL, 'info'], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 3 and 'BR/EDR' in done.stderr and 'does not respond' not in done.stderr, done
    adapters += plugged(TWO)
    listed = [json.loads(line) for line in subprocess.run([TOOL, '--json', 'dev'], capture_output=True, text=True,
                                                          timeout=LIMIT).stdout.splitlines()]
    assert [line['lowEnergy'] for line in listed] == [False, True], listed
    done = subprocess.run([TOOL, '--json', 'info'], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0 and json.loads(done.stdout)['address'] == TWO, done
    daemon = bled()
    wait_until(scans, 'bled scans')
    assert 'has no Bluetooth LE' in said() and 'does not respond' not in said(), said()
    close(daemon, adapters)


def test_reset_by_operators():
    """an operator resets the device, and a scan goes on behind it; nobody else may, nor forget what was learned (A78)"""
    adapters = plugged(ONE)
    daemon = bled('--adapter', ONE, '--allow', str(NOBODY))
    wait_until(scans, 'it scans')
    os.chmod(os.path.dirname(SOCKET), 0o1777)
    for words in ('power', 'reset'), ('traits', 'forget'), ('power', 'off'):
        done = subprocess.run([TOOL, '-t', f'bled:{SOCKET}', *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, user=NOBODY, extra_groups=[],
                              env={'JELLING_SOCKET_OWNER': '0', 'XDG_STATE_HOME': '/tmp/nobody', 'PATH': os.environ['PATH']})
        assert done.returncode != 0 and 'operator' in done.stderr, (words, done)
    assert 'being reset' not in said(), said()
    scan = start(TOOL, '-t', f'bled:{SOCKET}', '--json', 'lescan', '--duplicates', log='/tmp/scan')
    found = lambda: pathlib.Path('/tmp/scan').read_text().count('discovered')
    wait_until(lambda: found() > 2, 'it hears the lamp')
    code, out, errors = tool('power', 'reset')
    assert code == 0 and 'was reset' in out, (code, out, errors)
    count = found()
    wait_until(lambda: found() > count + 5, 'the scan goes on')
    assert scan.poll() is None
    assert tool('traits', 'forget')[0] == 0
    end(scan)
    close(daemon, adapters)


def test_own_step():
    """the owner's own program resets the adapter, whose name it gets; when it fails, the operator is told why (A78)"""
    adapters = plugged(ONE)
    settings, program = pathlib.Path('/tmp/settings.json'), pathlib.Path('/tmp/own-step')
    settings.write_text(json.dumps({'recoveryCommand': [str(program), '--quickly']}))
    settings.chmod(0o600)
    program.write_text('#!/bin/sh\necho "$@" >/tmp/own-step.said\ntest ! -e /tmp/own-step.fails\n')
    program.chmod(stat.S_IRWXU)
    daemon = bled('--adapter', ONE, '--config', str(settings))
    wait_until(scans, 'it scans')
    assert tool('power', 'reset')[0] == 0
    assert pathlib.Path('/tmp/own-step.said').read_text() == f'--quickly hci{adapters[0].index}\n'
    wait_until(scans, 'it scans again')
    pathlib.Path('/tmp/own-step.fails').touch()
    code, _, errors = tool('power', 'reset')
    assert code == 1 and 'failed with status 1' in errors, (code, errors)
    wait_until(scans, 'it scans all the same')
    close(daemon, adapters)
