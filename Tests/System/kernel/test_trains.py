"""Periodic trains with BlueZ's kernel: it sends one for an isochronous broadcast, and follows one to receive a
broadcast. BlueZ's `isotest` asks for both; its daemon does not run."""
import json, os, re, signal, subprocess

from kernel.bluez import BLUEZ_ADDRESS
from kernel.harness import OUR_ADDRESS, TOOL, btmgmt, is_up, shell, tool, wait_until


def isotest(*arguments, begun):
    """BlueZ's program for isochronous sockets on hci0, when it has said that it has begun."""
    wait_until(lambda: is_up(0) or shell('hciconfig hci0 up', False) is None, 'hci0 up')
    for attempts_left in (4, 3, 2, 1, 0):
        # Without this the kernel refuses such sockets.
        answer = btmgmt('le', 'on')
        process = subprocess.Popen(['isotest', *arguments], stdin=subprocess.DEVNULL, stdout=open('/tmp/isotest', 'wb'),
                                   stderr=subprocess.STDOUT, start_new_session=True)
        # It does not wait for the kernel to have switched on what it needs, and then fails.
        wait_until(lambda: re.search(rf"{begun}|err -|Can't|Can not", open('/tmp/isotest').read()), 'isotest')
        said = open('/tmp/isotest').read()
        if not re.search("err -|Can't|Can not", said):
            return process
        stop(process)
    raise AssertionError(f'{said}; btmgmt: {answer[-300:]}')


def stop(process):
    """Ends a program that has children."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)


def test_sync_follows_a_train_of_bluez(sets):
    """`sync` follows the periodic train of a broadcast that BlueZ's kernel sends"""
    sending = None
    try:
        sending = isotest('-s', '-i', 'hci0', '00:00:00:00:00:00', begun='Connected')
        # btvirt gives no interval in its reports, by which a train is found whose address has no type; and it reports the data of
        # a train when they change, which they do not here.
        run = tool('sync', f'{BLUEZ_ADDRESS}/public', '--sid', '0', '--count', '1', '--duration', '60', transport='user:1')
    finally:
        if sending:
            stop(sending)
        shell('hciconfig hci0 down')
    assert [(e['event'], e['address'], e['sid']) for e in run.lines] == [
        (event, BLUEZ_ADDRESS, 0) for event in ('synchronized', 'train')], run


def test_bluez_follows_our_train(sets):
    """BlueZ's kernel synchronizes to the train of `advertise --set periodic=…` and gets its data"""
    seen = open('/tmp/train.seen', 'wb')
    watching = subprocess.Popen([TOOL, '--json', '-t', 'hci0', 'monitor'], stdin=subprocess.DEVNULL, stdout=seen, stderr=seen)
    sending = subprocess.Popen(
        [TOOL, '-t', 'user:1', '--json', 'advertise', '--set', 'name=Shelf,periodic=100,periodic-data=04ffffff5a'],
        stdin=subprocess.DEVNULL, stdout=open('/tmp/train.sent', 'wb'), stderr=subprocess.STDOUT)
    receiving = None
    try:
        wait_until(lambda: '"started"' in open('/tmp/train.sent').read(), 'the train')
        receiving = isotest('-d', '-i', 'hci0', OUR_ADDRESS, begun='Waiting')
        heard = lambda name: [e for line in open('/tmp/train.seen') if name in line and line.endswith('\n')
                              for e in [json.loads(line)] if e.get('adapter') == 0]
        wait_until(lambda: heard('LE Periodic Advertising Report'), "the train's data")
    finally:
        if receiving:
            stop(receiving)
        for process in sending, watching:
            process.send_signal(signal.SIGINT)
            process.wait(120)
        shell('hciconfig hci0 down')
    assert heard('LE Periodic Advertising Sync Established')[0]['fields']['advertiserAddress'] == OUR_ADDRESS, 'another train'
    data = heard('LE Periodic Advertising Report')[0]['fields']['data']
    assert [(d['company'], d['value']) for d in data] == [(0xFFFF, '5a')], data
