"""What a host does with simulated controllers of real families: BlueZ's daemon, and bletool, on hci0; hci1 is a correct controller
where bletool serves for both."""
import asyncio, json, os, pathlib, re, shutil, subprocess, time

from jelling.child import Child
from kernel.harness import TOOL, Run, Served, btmgmt, is_free, shell, wait_until

CONTROLLERS = '/tmp/simulated-controllers'
CORRECT = 'none'
PRESETS = [CORRECT, 'csr-clone', 'realtek-8761', 'ats2851', 'intel-ax2xx', 'broadcom-pi', 'zephyr-usb', 'esp32', 'mediatek-7922',
           'cc2564', 'virtual-machine']
STEPS = ['up', 'scan', 'read', 'notify', 'pair']
HEART, HEART_NAME, LEVEL, RATE = 'C0:DE:00:00:00:01', 'Jelling Heart', '2A19', '2A37'
OTHER = '00:AA:01:00:00:02'      # hci1
ENCRYPTED = '6B7A0006-9D1C-4F5E-8A2B-3C4D5E6F7081'
LIMIT = 60      # seconds for one step

# Which steps work, of BlueZ 5.66 on Linux 6.1 and of bletool; all of them where a family is not here.
BLUEZ_LACKS = {
    # It claims LE Read Transmit Power and does not know it. The kernel gives up an adapter that refuses a command of its start,
    # unless the driver knows it by its USB ids, which /dev/vhci has not.
    'ats2851': STEPS,
}
JELLING_LACKS = {
    # The kernel hands an adapter over only when it has set it up. `usb` goes around it, where there is a USB device.
    'ats2851': STEPS,
}
LACKS = {'bluez': BLUEZ_LACKS, 'jelling': JELLING_LACKS}
# What each host did, a table of it, and the page that has the table of an earlier run.
NOTES, TABLE, PAGE = '/host/presets.jsonl', '/host/table.md', '/host/Controllers.md'
TRAFFIC = '/tmp/btmon.btsnoop'
SERVER, CENTRAL = '/tmp/state', '/tmp/state-central'     # of `serve`, and of bletool on the other side


def uuid(short):
    return f'0000{short.lower()}-0000-1000-8000-00805f9b34fb' if len(short) == 4 else short.lower()


def start_daemon():
    """BlueZ's, which leaves adapters down until they are powered, and an agent that can show and ask nothing."""
    os.makedirs('/etc/bluetooth', exist_ok=True)
    pathlib.Path('/etc/bluetooth/main.conf').write_text('[Policy]\nAutoEnable=false\n')
    shell('dbus-daemon --system --fork --nopidfile')
    daemon = subprocess.Popen(['/usr/libexec/bluetooth/bluetoothd', '-n'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=open('/tmp/bluetoothd.log', 'wb'))
    said = pathlib.Path('/tmp/agent.log')
    agent = subprocess.Popen(['bluetoothctl'], stdin=subprocess.PIPE, stdout=said.open('wb'), stderr=subprocess.STDOUT)
    wait_until(lambda: 'Agent registered' in said.read_text(errors='replace'), 'an agent')
    for command, answer in (('agent off', 'unregistered'), ('agent NoInputNoOutput', 'Agent registered'), ('default-agent', 'successful')):
        before = len(said.read_text(errors='replace'))
        agent.stdin.write(command.encode() + b'\n')
        agent.stdin.flush()
        wait_until(lambda: answer in said.read_text(errors='replace')[before:], command)
    return daemon, agent


def manages(index):
    objects = 'dbus-send --system --dest=org.bluez --print-reply / org.freedesktop.DBus.ObjectManager.GetManagedObjects'
    return f'/org/bluez/hci{index}"' in shell(objects, False)


class Controllers:
    """A controller of a family as hci0 and a correct one as hci1, with the devices of `sim` around them."""

    def __init__(self, preset):
        self.preset = preset

    def __enter__(self):
        choice = [] if self.preset == CORRECT else ['--preset', self.preset, '--preset', 'none']
        # It waits for the adapter, and sees what the kernel asks it at its start.
        self.monitor = subprocess.Popen(['btmon', '-i', '0', '-w', TRAFFIC], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.process = Child('simulated-controllers', [CONTROLLERS, '--vhci', '--vhci', *choice], '/tmp/controllers.err')
        ready = self.process.wait_for(lambda line: 'endpoints' in line, 'READY')[0]
        assert ready['endpoints'] == ['hci0', 'hci1'], ready
        wait_until(lambda: all(os.path.exists(f'/sys/class/bluetooth/hci{i}') for i in (0, 1)), 'two adapters')
        # The kernel sets each of them up by itself; for one that does not answer that takes long.
        wait_until(lambda: is_free(1), 'hci1 free')
        return self

    def __exit__(self, *_):
        self.process.end()
        self.monitor.terminate()
        self.monitor.wait()
        wait_until(lambda: not any(os.path.exists(f'/sys/class/bluetooth/hci{i}') for i in (0, 1)), 'the end of both')


def last_refusal():
    """The last command that the first controller did not answer with success, in btmon's words; `''` without one."""
    said, command = '', ''
    for line in shell(f'btmon -r {TRAFFIC}', False).splitlines():
        if found := re.match(r'(?:< HCI Command: | {6})(.*) \(0x\w\w\|0x\w{4}\)', line):
            command = found[1]
        elif (found := re.match(r' +Status: (.*) \(0x\w\w\)', line)) and found[1] != 'Success':
            said = f'{command}: {found[1]}'
    return said


def attempt(results, step, action):
    """Notes what became of a step: `yes`, or why not. Later steps are tried all the same."""
    began = time.monotonic()
    try:
        action()
        results[step] = 'yes'
    except Exception as error:
        words = ' '.join(str(error).split()) or type(error).__name__
        results[step] = f'no: {words}'
    print(f'{step}: {results[step]} ({time.monotonic() - began:.1f} s)', flush=True)


def forget_bonds():
    """Before each pairing: every controller here is a computer of its own, but `serve` always has the same address, and on one controller
    so have BlueZ and bletool. `serve` rightly pairs with nobody who claims to be a device that it has a bond with."""
    for state in SERVER, CENTRAL:
        shutil.rmtree(state, ignore_errors=True)


# BlueZ

def bluez():
    results = {}
    attempt(results, 'up', power_on)
    if results['up'] != 'yes':
        return {step: results['up'] for step in STEPS}
    try:
        attempt(results, 'scan', lambda: in_time(find(HEART_NAME)))
        attempt(results, 'read', lambda: in_time(read()))
        attempt(results, 'notify', lambda: in_time(notified()))
        forget_bonds()
        with Served():
            attempt(results, 'pair', lambda: in_time(pair()))
    finally:
        btmgmt('power', 'off')
        wait_until(lambda: is_free(0), 'hci0 free')
    return results


def power_on():
    is_busy = time.monotonic()
    while not manages(0):
        now = time.monotonic()
        # The kernel sets it up, or has done so a moment ago.
        if not {'INIT', 'UP'}.isdisjoint(shell('hciconfig hci0', False).split()):
            is_busy = now
        assert now < is_busy + 20, f'the kernel gives it up ({last_refusal()})'
        time.sleep(0.2)
    said = btmgmt('power', 'on')
    assert 'complete' in said and 'powered' in said.split('settings:')[-1], ' '.join(said.split())


def in_time(steps):
    return asyncio.run(asyncio.wait_for(steps, 2 * LIMIT))


async def find(name):
    from bleak import BleakScanner     # of the guest
    device = await BleakScanner.find_device_by_filter(lambda _, heard: heard.local_name == name, LIMIT, adapter='hci0')
    assert device is not None, 'not found'
    return device


def client(device):
    from bleak import BleakClient
    return BleakClient(device, timeout=LIMIT, adapter='hci0')


async def read():
    async with client(await find(HEART_NAME)) as link:
        value = await link.read_gatt_char(uuid(LEVEL))
        assert value == b'\x57', f'another value: {value.hex()}'


async def notified():
    async with client(await find(HEART_NAME)) as link:
        values = asyncio.Queue()
        await link.start_notify(uuid(RATE), lambda _, value: values.put_nowait(bytes(value)))
        for _ in range(2):
            await asyncio.wait_for(values.get(), LIMIT)


async def pair():
    async with client(await find('Jelling')) as link:
        assert await link.pair(), 'not paired'
        value = await link.read_gatt_char(uuid(ENCRYPTED))
        assert value == b'\x5e\xc2\xe7', f'another value: {value.hex()}'


# Jelling

def jelling():
    results = {}

    def run(*arguments):
        done = subprocess.run([TOOL, '-t', 'user:0', '--json', *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=3 * LIMIT, env={**os.environ, 'XDG_STATE_HOME': CENTRAL})
        run = Run(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert run.status == 0, next((line['message'] for line in run.lines if 'message' in line), run.err.strip()[-200:])
        return run

    def value(*arguments):
        return run('gatt', *arguments).events('value')[0]['value']

    def scan():
        assert run('lescan', '--name', HEART_NAME, '--count', '1', '--duration', '20').events('discovered'), 'not found'

    def read():
        assert value(HEART, 'read', LEVEL) == '57', 'another value'

    def notified():
        said = run('gatt', HEART, 'subscribe', RATE, '--count', '2', '--duration', '30')
        assert len(said.events('notified')) == 2, said

    def pair():
        run('pair', OTHER)
        assert value(OTHER, 'read', ENCRYPTED) == '5ec2e7', 'another value'

    attempt(results, 'up', lambda: run('info'))
    attempt(results, 'scan', scan)
    attempt(results, 'read', read)
    attempt(results, 'notify', notified)
    forget_bonds()
    with Served():
        attempt(results, 'pair', pair)
    return results


# What is expected, and the table

def unexpected(preset, host, results):
    lacking = LACKS[host].get(preset, [])
    return {step: said for step, said in results.items() if (said == 'yes') == (step in lacking)}


def words(results):
    """One cell: what works, and for the first step that does not, why."""
    missing = [step for step in STEPS if results[step] != 'yes']
    if not missing:
        return 'all'
    done = ', '.join(step for step in STEPS if step not in missing) or 'nothing'
    reason = results[missing[0]].removeprefix('no: ')
    return f'{done}; {missing[0]}: {reason.partition(";")[0]}'


def note(preset, host, results):
    with open(NOTES, 'a') as file:
        file.write(json.dumps({'preset': preset, 'host': host, 'results': results}) + '\n')


def noted():
    """What has been noted last of each preset and host."""
    lines = pathlib.Path(NOTES).read_text().splitlines() if os.path.exists(NOTES) else []
    return {(one['preset'], one['host']): one['results'] for one in map(json.loads, lines)}


def table():
    """Of what has been noted."""
    rows, found = ['| simulated controller | BlueZ | Jelling |', '|---|---|---|'], noted()
    for preset in PRESETS:
        name = 'a correct one' if preset == CORRECT else f'`{preset}`'
        cells = [words(found[preset, host]).replace('|', '\\|') for host in LACKS]
        rows.append(f'| {name} | {" | ".join(cells)} |')
    return '\n'.join(rows) + '\n'
