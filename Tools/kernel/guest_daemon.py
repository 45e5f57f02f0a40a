#!/usr/bin/env python3
"""`bled` on a kernel's adapters inside the guest: several adapters, five programs at once, apps that the kernel freezes, and a
shortage of memory that the kernel reports.

  guest_daemon.py

Prints a line a test and ends with `N passed, N failed`."""
import json, os, signal, sys

from guest_bled import (ADDRESSES, GROUPS, RELAY, SOCKET, STATE, TOOL, app, bled, counted, end, events, install, is_frozen, number, plug,
                        run, said, scans, sensor, shell, shown, start, tool, unplug, wait_until)

FOLLOWER, DOOR, BY_RELAY = 'org.example.follower', 'org.example.door', 'org.example.relay'


def all_adapters():
    """with `--adapter all`, adapters that appear later are taken, too"""
    first = plug(1)
    daemon = bled('--adapter', 'all')
    wait_until(scans, 'bled scans')
    assert not os.path.exists(SOCKET + '.2')
    second = plug(2)
    wait_until(lambda: os.path.exists(SOCKET + '.2'), 'the second adapter is taken')
    wait_until(lambda: scans(SOCKET + '.2'), 'it scans')
    end(daemon)
    unplug(first)
    unplug(second)


def five_programs():
    """five programs in both roles on one adapter of the kernel: an app in Swift, two in Python, two of bletool; three share a link"""
    install(BY_RELAY, command=[RELAY])
    install(FOLLOWER, {'scan': ['180d'], 'connect': {}, 'subscribe': '2a37'})
    install(DOOR, {'publish': [['180f', ['2a19', 2, 1]]], 'advertise': 'Door', 'services': ['180f']})
    with open('/tmp/lamp.json', 'w') as file:
        json.dump({'services': [{'uuid': 'FFF0', 'characteristics': [
            {'uuid': 'FFF1', 'properties': ['read'], 'permissions': ['readable'], 'value': '6c616d70'}]}]}, file)
    daemon = bled('--adapter', f'user:{number(ADDRESSES[0])}', '--cgroup', GROUPS)
    pulse = sensor(ADDRESSES[1])
    lamp = start(TOOL, '-t', f'bled:{SOCKET}', '--json', 'serve', '--profile', '/tmp/lamp.json', '--name', 'Lamp', log='/tmp/lamp')
    for name in BY_RELAY, FOLLOWER, DOOR:
        app('launch', name)
    reader = start(TOOL, '-t', f'bled:{SOCKET}', '--json', 'gatt', 'Sensor', 'subscribe', '2A37', log='/tmp/reader')
    wait_until(lambda: len(events('beat')) > 2 and len(events('value', FOLLOWER)) > 2, 'both apps have values')
    wait_until(lambda: open('/tmp/reader').read().count('0048') > 2, 'bletool has values')
    wait_until(lambda: events('advertising', DOOR) and 'advertising' in open('/tmp/lamp').read(), 'both serve')
    # btvirt's controllers have one connection each (all have one handle), so that no central can connect besides.
    seen = start(TOOL, '-t', f'user:{number(ADDRESSES[2])}', '--json', 'lescan', log='/tmp/seen')
    wait_until(lambda: ADDRESSES[0] in open('/tmp/seen').read().upper(), 'another adapter hears it')
    end(seen, signal.SIGINT)
    adapter, = json.loads(tool('--json', 'status')[1])['adapters']
    holders = [set(link['holders']) for link in adapter['links'] if link['role'] == 'central']
    assert any({BY_RELAY, FOLLOWER} <= held and len(held) == 3 for held in holders), adapter['links']
    for process in reader, lamp:
        end(process, signal.SIGINT)
    return daemon, pulse


def frozen(daemon):
    """an app in a cgroup is frozen by the kernel and thawed for each value, also by a new bled after a kill of the first"""
    suspend(BY_RELAY)
    process = shown(BY_RELAY)['process']
    for _ in range(2):
        wait_until(lambda: is_frozen(BY_RELAY), 'it is frozen')
        with open(f'/proc/{process}/cgroup') as file:
            assert f'/apps/app-{BY_RELAY}\n' in file.read()
        before = len(events('beat'))
        wait_until(lambda: len(events('beat')) > before, 'a value thaws it')
    wait_until(lambda: is_frozen(BY_RELAY), 'it is frozen')
    end(daemon, signal.SIGKILL)
    daemon = bled('--adapter', f'user:{number(ADDRESSES[0])}', '--cgroup', GROUPS, keeps_log=True)
    wait_until(lambda: shown(BY_RELAY)['process'] == process, 'the new bled has it')
    wait_until(lambda: shown(BY_RELAY)['place'] == 'suspended' and is_frozen(BY_RELAY), 'it is frozen again')
    before = len(events('beat'))
    wait_until(lambda: len(events('beat')) > before, 'a value thaws it')
    wait_until(lambda: is_frozen(BY_RELAY), 'it is frozen')
    return daemon


def suspend(name):
    app('background', name)
    app('suspend', name)


def memory_is_short():
    """when the kernel reports that tasks wait for memory, the app that was suspended first makes room, and a value brings it back"""
    first = shown(BY_RELAY)['process']
    app('launch', FOLLOWER)
    wait_until(lambda: shown(FOLLOWER)['process'] and shown(FOLLOWER)['place'] == 'foreground', 'the other runs')
    group = '/sys/fs/cgroup/hog'
    os.makedirs(group, exist_ok=True)
    with open(f'{group}/memory.high', 'w') as file:
        file.write(str(16 << 20))
    hog = start('/usr/bin/python3', '-c', f'import os; open("{group}/cgroup.procs", "w").write("0")\n'
                'held = [os.urandom(1 << 20) for _ in range(48)]\nimport time; time.sleep(100000)')
    wait_until(lambda: f'memory is short: ‘{BY_RELAY}’ is ended' in said(), 'it makes room')
    with open('/proc/pressure/memory') as file:
        pressure = file.readline().strip()
    end(hog, signal.SIGKILL)
    assert f'‘{FOLLOWER}’ is ended' not in said(), 'an app was ended that is not suspended'
    # Its managers are preserved, and the sensor still sends.
    wait_until(lambda: shown(BY_RELAY)['process'] not in (0, first), 'a value launches it again')
    wait_until(lambda: [one for one in events('willRestore') if one.get('role') == 'central'], 'it is restored')
    restored = len(events('beat'))
    wait_until(lambda: len(events('beat')) > restored, 'it has values again')
    told = next(line for line in said().splitlines() if 'memory is short' in line)
    return f'{told.removeprefix("bled: ")}; {pressure}'


def tests():
    shell(f'mkdir -p {STATE} /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; '
          f'echo "+memory" >/sys/fs/cgroup/cgroup.subtree_control; mkdir -p {GROUPS}')
    run(all_adapters)
    plug(3)
    daemon, _ = run(five_programs)
    daemon = run(frozen, daemon)
    run(memory_is_short)


sys.exit(counted(tests))
