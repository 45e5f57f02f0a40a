"""The program: exit status, the name, adapters that come and go with `bled`, what it costs."""
import asyncio, os, pathlib, re, signal, subprocess, time

import pytest

from jelling.bluez import ADAPTER, DEVICE, HCI0, PEER, Ear
from jelling.child import wait_until
from jelling.measures import kilobytes
from jelling.programs import BLED, BLETOOL, BLUEZ

only_the_bus = pytest.mark.desk(peer=False, start=False)


def end(*words, **variables):
    return subprocess.run([BLUEZ, *words], capture_output=True, text=True, timeout=30, env={**os.environ, **variables})


@only_the_bus
def test_exit_status(desk):
    """0 after a signal, 1 without a bus, 2 for wrong options, 3 where another process owns the name"""
    help = end('--help')
    assert help.returncode == 0 and all(option in help.stdout for option in ('--state', '--bled', '--bus')), help
    assert end('--nonsense').returncode == end('--state', '').returncode == 2
    gone = end(DBUS_SYSTEM_BUS_ADDRESS='unix:path=/nothing/here')
    assert gone.returncode == 1 and 'bus' in gone.stderr and '/nothing/here' in gone.stderr, gone
    gone = end('--bus', 'unix:path=/nothing/there')
    assert gone.returncode == 1 and '/nothing/there' in gone.stderr, gone
    gone = end('--bus', 'nonsense')
    assert gone.returncode == 1 and '‘nonsense’ is not the address of a bus' in gone.stderr, gone
    for program in BLED, BLUEZ:
        version = subprocess.run([program, '--version'], capture_output=True, text=True, timeout=30)
        assert version.returncode == 0 and re.fullmatch(r'\d+\.\d+\.\d+\n', version.stdout), version
    door = desk.start_door()
    second = end()
    assert second.returncode == 3 and 'org.bluez' in second.stderr and f'process {door.process.pid} (bled-bluez)' in second.stderr, second
    assert 'systemctl' not in second.stderr, second
    for number in signal.SIGTERM, signal.SIGINT:
        door.is_ended = True
        door.process.send_signal(number)
        assert door.process.wait(20) == 0, door.stderr()
        assert not desk.owner()
        door = desk.start_door()


@only_the_bus
def test_adapters_come_and_go(desk):
    """The name is there without `bled`; its adapter comes when it listens, and goes when it dies; the log says so, in a line for each"""
    desk.socket = desk.path('later.sock')
    desk.start_door()
    desk.socket = None

    async def watch():
        async with Ear() as ear:
            assert HCI0 not in await ear.objects()
            await ear.call('/org/bluez', 'org.bluez.AgentManager1', 'RegisterAgent', 'os', '/agent', '')
            for _ in range(2):
                since = len(ear.notes)
                bled = desk.spawn('bled', [BLED, '--adapter', desk.endpoint, '--socket', desk.path('later.sock'), '--state', desk.path('state')])
                start = time.monotonic()
                await ear.wait(lambda note: note[:2] == ('added', HCI0), 'the adapter', 20, since)
                assert await ear.get(HCI0, ADAPTER, 'Address')
                since = len(ear.notes)
                bled.is_ended = True
                bled.process.kill()
                bled.process.wait()
                start = time.monotonic()
                await ear.wait(lambda note: note[:2] == ('removed', HCI0), 'the end of the adapter', 20, since)
                assert time.monotonic() - start < 5
                assert (await ear.refused(HCI0, ADAPTER, 'StartDiscovery'))[0].endswith('UnknownObject')
    desk.go(watch(), 120)
    waiting, coming, going = f'waiting for bled at {desk.path("later.sock")}', 'hci0 is there: ', 'hci0 has gone: '
    kinds = [next((kind for kind in (waiting, coming, going) if kind in line), line) for line in desk.door.stderr().splitlines()]
    assert kinds[0] == waiting and kinds.count(waiting) <= 3, desk.door.stderr()
    assert [kind for kind in kinds if kind != waiting] == [coming, going] * 2, desk.door.stderr()


def test_state(desk):
    """What people have set is there after a restart: Trusted and Alias of a device, the adapter's alias"""
    async def set_it():
        async with Ear() as ear:
            await ear.find()
            await ear.set(PEER, DEVICE, 'Alias', 's', 'My peer')
            await ear.set(PEER, DEVICE, 'Trusted', 'b', True)
            await ear.set(HCI0, ADAPTER, 'Alias', 's', 'My adapter')

    async def look():
        async with Ear() as ear:
            while HCI0 not in await ear.objects():
                await asyncio.sleep(0.05)
            device = (await ear.objects())[PEER][DEVICE]
            assert (device['Alias'], device['Trusted'], device['Blocked']) == ('My peer', True, False)
            assert await ear.get(HCI0, ADAPTER, 'Alias') == 'My adapter'
            await ear.set(HCI0, ADAPTER, 'Alias', 's', '')
            assert await ear.get(HCI0, ADAPTER, 'Alias') == await ear.get(HCI0, ADAPTER, 'Name')
    desk.go(set_it())
    desk.door.is_ended = True
    desk.door.process.terminate()
    assert desk.door.process.wait(20) == 0
    desk.start_door()
    desk.go(look())


def test_kill(desk):
    """Killed, it comes back to the same adapter and devices with bonds"""
    async def pair():
        async with Ear() as ear:
            await ear.connect()
            await ear.call(PEER, DEVICE, 'Pair')

    async def look():
        async with Ear() as ear:
            while PEER not in await ear.objects():
                await asyncio.sleep(0.05)
            assert await ear.get(PEER, DEVICE, 'Paired') is True
    desk.go(pair())
    desk.door.is_ended = True
    desk.door.process.kill()
    desk.door.process.wait()
    wait_until(lambda: not desk.owner(), 'the name is free')
    desk.start_door()
    desk.go(look())


@pytest.mark.alone
@pytest.mark.desk(peer=False)
def test_idle(desk):
    """Idle: at most two wake-ups in 8 s, and at most 25 MB"""
    time.sleep(2)

    def switches():
        total = 0
        for status in pathlib.Path(f'/proc/{desk.door.process.pid}/task').glob('*/status'):
            total += sum(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith('voluntary_ctxt'))
        return total
    before = switches()
    time.sleep(8)
    assert switches() - before <= 2
    assert kilobytes(desk.door.process, 'VmRSS') <= 25 * 1024, kilobytes(desk.door.process, 'VmRSS')


@pytest.mark.desk(peer=False, start=False)
def test_policy(desk):
    """On a bus with the rules of the system bus, the shipped policy lets programs call the service, and the service their agents"""
    import shutil
    from jelling.programs import ROOT
    rules = pathlib.Path(ROOT, 'Tools', 'dbus', 'org.bluez.conf').read_text()
    # The user of the service need not be there.
    users = re.sub(r'(?s)<policy user="jelling">.*?</policy>', '', rules)
    pathlib.Path(desk.path('org.bluez.conf')).write_text(users)
    pathlib.Path(desk.path('system.conf')).write_text(f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={desk.path('strict')}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
<allow send_destination="org.freedesktop.DBus"/></policy><include>{desk.path('org.bluez.conf')}</include></busconfig>""")
    assert shutil.which('dbus-daemon')
    desk.spawn('dbus-daemon', ['dbus-daemon', '--nofork', f'--config-file={desk.path("system.conf")}'])
    wait_until(lambda: os.path.exists(desk.path('strict')), 'the bus listens')
    desk.bus_address = f'unix:path={desk.path("strict")}'
    os.environ['DBUS_SYSTEM_BUS_ADDRESS'] = desk.bus_address
    desk.socket = desk.bled(desk.endpoint)
    desk.start_door()

    async def work():
        from bluez.test_serving import ADVERTISING, Objects
        async with Ear() as ear:
            while HCI0 not in await ear.objects():
                await asyncio.sleep(0.05)
            Objects(ear)
            await ear.call(HCI0, 'org.bluez.GattManager1', 'RegisterApplication', 'oa{sv}', '/app', {})
            await ear.call(HCI0, ADVERTISING, 'RegisterAdvertisement', 'oa{sv}', '/advertisement', {})
    desk.go(work())


def test_links_of_others(desk):
    """A link that another program of bled has is shown as connected after a restart"""
    desk.socket, door = desk.socket, desk.door
    other = desk.spawn('bletool', [BLETOOL, '-t', f'bled:{desk.socket}', '--json', 'gatt', 'BumblePeer', 'subscribe', '2A37', '--duration', '60'])
    other.wait_for(lambda line: line.get('event') == 'notified', 'a notification')
    door.is_ended = True
    door.process.terminate()
    door.process.wait(20)
    desk.start_door()

    async def work():
        async with Ear() as ear:
            while (await ear.objects()).get(PEER, {}).get(DEVICE, {}).get('Connected') is not True:
                await asyncio.sleep(0.05)
    desk.go(work())
