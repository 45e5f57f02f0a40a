"""What every image does. Each test goes on from the state in which the one before left the machine."""
import json, os, time

from jelling.child import wait_until

PEER, ENCRYPTED = 'F2:F1:F0:00:00:02/random', '6b7a0006-9d1c-4f5e-8a2b-3c4d5e6f7081'
READ = f'read {ENCRYPTED}'
# By architecture: what may be killed, and the program that publishes.
KILLED = {'arm64': ['ble-gw', 'mosquitto_pub', 'mosquitto', 'udhcpc watchdog svlogd', 'runsv', 'runsvdir'],
          'amd64': ['bled', 'jelling-gateway', 'udhcpc watchdog svlogd', 'runsv', 'runsvdir']}
SINGLE = {'arm64': ['ble-gw', 'mosquitto', 'udhcpc'], 'amd64': ['bled', 'jelling-gateway', 'udhcpc']}
# Settings for these tests: something to publish all the time, and the bond.
TALKATIVE = {'arm64': "echo 'scan 86400 duplicates' >/etc/ble-gw/commands; sv -w 120 restart ble-gw",
             'amd64': "printf 'publish: {refresh: 1}\\n' >>/etc/jelling-gateway/gateway.yaml"}
BONDS = '/usr/bin/setpriv --reuid ble-gw --regid ble-gw --clear-groups ble-gw --state /var/lib/ble-gw/bonds --bonds'
# Whether messages that came after the file /tmp/mark wait on the disk.
IS_WAITING = {'arm64': '[ /var/lib/mosquitto/mosquitto.db -nt /tmp/mark ]',
              'amd64': "[ $(wget -q -O - http://127.0.0.1:9464/metrics | sed -n 's/^jelling_gateway_queue_messages //p') -gt 8 ]"}


def test_boots_and_publishes(bed):
    """from an empty disk: the machine starts, and the sensor's values are at the broker outside"""
    assert bed.machine.starts() == 'first'
    bed.heard.wait(lambda topic, payload, retained: bed.messages(), 'a message of the sensor', timeout=300)
    print(f'{bed.architecture}: the first message {time.monotonic() - bed.machine.began:.1f} s after power-on')
    payload = json.loads(bed.messages()[0][1])
    assert payload['address'] == PEER.split('/')[0], payload
    if bed.architecture == 'amd64':
        assert payload['values'] == {'temperature': 25, 'humidity': 50.55}, payload
    else:
        assert payload['serviceData'] == [{'uuid': 'FCD2', 'data': '4002c40903bf13'}], payload
    bed.machine.shell(TALKATIVE[bed.architecture])
    bed.goes_on('messages without a pause')


def test_killed(bed):
    """kill -9 of each process, also of the supervisors: it is there again, once, and messages go on"""
    for names in KILLED[bed.architecture]:
        running = lambda: {name: bed.machine.numbers(name) for name in names.split()}
        before = running()
        bed.machine.shell(f'kill -9 {" ".join(str(number) for numbers in before.values() for number in numbers)}')
        wait_until(lambda: all(now and not now & before[name] for name, now in running().items()), f'other {names}', 300, 0.5)
        bed.goes_on(f'messages after the end of {names}')
    for name in SINGLE[bed.architecture]:
        wait_until(lambda: len(bed.machine.numbers(name)) == 1, f'one {name}', 300, 0.5)


def test_crashing_program(bed):
    """a program that ends at once is started less and less often"""
    bed.machine.shell("mkdir -p /run/service/crash; printf '#!/bin/sh\\n. /etc/runit/service\\ncut -d. -f1 /proc/uptime >>/tmp/starts\\nexit 1\\n' "
                      '>/run/service/crash/run; chmod 755 /run/service/crash/run; ln -s /etc/runit/finish /run/service/crash/finish; '
                      'ln -s /run/service/crash /etc/service/crash')
    starts = wait_until(lambda: (lambda found: found if len(found) >= 5 else None)(
        [int(word) for word in bed.machine.shell('cat /tmp/starts', status=None).split() if word.isdigit()]), 'five starts', 300, 1)
    bed.machine.shell('rm /etc/service/crash')
    # Of the machine's clock, in whole seconds: at least 1, 2 and 4 s, besides what runsv waits.
    gaps = [after - before for before, after in zip(starts[1:], starts[2:])]
    assert all(gap >= pause - 1 for gap, pause in zip(gaps, (1, 2, 4))), starts


def test_rights(bed):
    """no service that talks to others runs as root, and none has more capabilities than adapters need"""
    for name in SINGLE[bed.architecture][:2]:
        status = bed.machine.shell(f'cat /proc/$(pidof {name})/status')
        fields = dict(line.split(':\t', 1) for line in status.splitlines() if ':\t' in line)
        assert fields['Uid'].split()[0] != '0', f'{name}: {fields["Uid"]}'
        # CAP_NET_ADMIN and CAP_NET_RAW.
        if name != 'mosquitto':
            assert int(fields['CapBnd'], 16) & ~0x3000 == 0 and fields['NoNewPrivs'] == '1', f'{name}: {fields}'


def test_adapter_is_lost(bed):
    """the dongle is pulled out and plugged in again"""
    bed.dongles.pull_out()
    wait_until(lambda: not bed.machine.shell('ls /sys/class/bluetooth').strip(), 'the adapter is gone', 300, 0.5)
    bed.dongles.plug_in()
    bed.goes_on('messages with the adapter back')


def test_network_is_lost(bed):
    """the cable to the broker is pulled out: what is received meanwhile arrives when it is back"""
    bed.machine.cable(False)
    began = bed.machine.shell('date -u +%Y-%m-%dT%H:%M:%S').strip()
    time.sleep(8)
    ended = bed.machine.shell('date -u +%Y-%m-%dT%H:%M:%S').strip()
    bed.machine.cable(True)
    meanwhile = lambda: [payload for _, payload in bed.messages() if began < json.loads(payload)['time'][:19] < ended]
    wait_until(meanwhile, 'what was received without the network', 300)
    bed.goes_on('messages with the network back')


def known(bonds):
    """Without the time at which they were listed."""
    return [{key: value for key, value in json.loads(line).items() if key != 'time'} for line in bonds.splitlines() if line.startswith('{')]


def bond(bed):
    """Pairs with the sensor; what the state partition has of it."""
    if bed.architecture == 'arm64':
        for command in f'pair\\n{READ}', READ:
            bed.machine.shell(f"printf 'connect {PEER}\\n{command}\\ndisconnect\\nscan 86400 duplicates\\n' >/etc/ble-gw/commands; "
                              'sv -w 120 restart ble-gw')
            bed.goes_on('the value that needs a bond', lambda payload: b'secret'.hex() in payload)
            bed.goes_on('messages after it', lambda payload: 'discovered' in payload)
        return known(bed.machine.shell(BONDS))
    said = []
    # A pairing that took too long on a busy machine may be tried again after a pause.
    wait_until(lambda: said.append(bed.machine.shell(f'bletool -t bled pair {PEER} 2>&1 && echo is paired', status=None)) or 'is paired' in said[-1],
               lambda: f'a bond: {said}', 300, 5)
    return PEER.split('/')[0]


def test_power_cut(bed):
    """without the network the power fails: after the next start what waited arrives, and the bond is there"""
    bonds = bond(bed)
    bed.machine.cable(False)
    began = bed.machine.shell('date -u +%Y-%m-%dT%H:%M:%S').strip()
    time.sleep(3)
    wait_until(lambda: 'yes' in bed.machine.shell(f'[ -e /tmp/mark ] || touch /tmp/mark; {IS_WAITING[bed.architecture]} && echo yes', status=None),
               'messages wait on the disk', 300, 1)
    ended = bed.machine.shell('date -u +%Y-%m-%dT%H:%M:%S').strip()
    # The file system does so by itself every five seconds, if it finds time.
    bed.machine.shell('sync')
    before = len(bed.messages())
    bed.machine.cut()
    bed.machine.power_on()
    assert bed.machine.starts() == 'first'
    wait_until(lambda: [payload for _, payload in bed.messages()[before:] if began <= json.loads(payload)['time'][:19] <= ended],
               'what waited on the disk', 300)
    if bed.architecture == 'arm64':
        bed.goes_on('the value that needs the bond', lambda payload: b'secret'.hex() in payload)
        assert known(bed.machine.shell(BONDS)) == bonds
    else:
        assert bonds in bed.machine.shell('bletool -t bled bonds')
        assert b'secret'.hex() in bed.machine.shell(f'bletool --json -t bled gatt {PEER} read {ENCRYPTED}')
    bed.goes_on('messages after the power failure')


def test_update(bed):
    """an image takes the place of another with one file; a damaged one changes nothing"""
    folder = bed.image('second')
    url, name = bed.served(folder), f'{bed.architecture}.img'
    with open(f'{folder}/{name}', 'rb') as whole, open(f'{folder}/half.img', 'wb') as half:
        half.write(whole.read()[:os.path.getsize(f'{folder}/{name}') // 2])
    assert 'damaged' in bed.machine.shell(f'update-image {url}/half.img 2>&1', status=1)
    assert 'new.img' not in bed.machine.shell('ls /var/lib/image')
    bed.machine.shell(f'update-image {url}/{name}')
    at = len(bed.machine.shown)
    bed.machine.process.stdin.write(b'reboot\n')
    bed.machine.process.stdin.flush()
    assert bed.machine.starts('new', at) == 'second'
    bed.goes_on('messages of the new image')
    bed.machine.wait('second is kept', since=at)
    # The power fails: it is still there.
    bed.machine.cut()
    assert bed.machine.power_on().starts('good') == 'second'
    bed.goes_on('messages of the image that was kept')


def test_damaged_update(bed):
    """a file that was damaged on the disk is passed over, and the image before runs"""
    bed.machine.shell('cd /var/lib/image; cp good.img new.img; dd if=/dev/urandom of=new.img bs=64k seek=20 count=1 conv=notrunc 2>/dev/null; cd; sync')
    bed.machine.cut()
    assert bed.machine.power_on().starts('good') == 'second'
    assert 'new.img is damaged' in bed.machine.shown
    assert bed.machine.shell('ls /var/lib/image').split() == ['good.img', 'refused.img']
    bed.goes_on('messages of the image before')


def test_update_that_does_not_work(bed):
    """an image that starts and never publishes: the one before comes back"""
    broken = os.path.join(bed.folder, 'broken', 'etc', 'runit', SINGLE[bed.architecture][0])
    os.makedirs(broken)
    with open(f'{broken}/run', 'w') as file:
        file.write('#!/bin/sh\n. /etc/runit/service\nexit 1\n')
    os.chmod(f'{broken}/run', 0o755)
    url = bed.served(bed.image('third', os.path.join(bed.folder, 'broken')))
    bed.machine.shell(f'update-image {url}/{bed.architecture}.img')
    bed.machine.cut()
    bed.machine.parameters += ' jelling.trial=5 jelling.tries=1'
    assert bed.machine.power_on().starts('new') == 'third'
    assert bed.machine.starts('good') == 'second'
    assert 'never became healthy' in bed.machine.shown
    bed.goes_on('messages of the image before')


def test_machine_that_hangs(bed):
    """a kernel that panics is started again, and so is a machine whose watchdog hears nothing"""
    for command in 'echo c >/proc/sysrq-trigger', 'kill -STOP $(pidof watchdog)':
        at = len(bed.machine.shown)
        bed.machine.process.stdin.write(f'{command}\n'.encode())
        bed.machine.process.stdin.flush()
        bed.machine.starts('.*?', at)
        bed.goes_on('messages after the machine hung')


def test_damaged_state(bed):
    """a state partition that cannot be repaired is made anew, and the loader's own image runs"""
    bed.machine.cut()
    with open(bed.machine.disk, 'r+b') as disk:
        disk.write(os.urandom(16 << 20))
        disk.seek(0)
        for block in range(0, os.path.getsize(bed.machine.disk), 4 << 20):
            disk.seek(block)
            disk.write(os.urandom(64 << 10))
    assert bed.machine.power_on().starts('built-in') == 'first'
    bed.goes_on('messages with a new state partition')
