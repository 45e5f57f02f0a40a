"""What bletool sends as a beacon, as `sensors` has it read: by beacontools, TheengsDecoder and bthome-ble from PyPI."""
import json, subprocess, tempfile, uuid

from sensor_libraries import KEY, BTHome, Case

# Values of each kind of measurement, with those for which bthome-ble has another value or none left out: it rounds steps of 0.35,
# and keeps the type of a device with the device.
OWN_VALUES = {'text': 'Hello', 'raw': '0aff', 'timestamp': '1684093277', 'button': 'press', 'dimmer': '3'}
LEFT_OUT = {'device_type', 'packet_id'}
FRACTIONS = {'temperature', 'humidity', 'dew_point', 'pressure', 'voltage', 'moisture', 'energy', 'power', 'illuminance', 'rotation'}


def tool(bletool, *arguments):
    run = subprocess.run([bletool, '--json', *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return json.loads(run.stdout.splitlines()[0]) if run.returncode == 0 else None


def sent(bletool, *options):
    """The octets of an advertisement"""
    packed = tool(bletool, 'ad', 'pack', *options)
    return bytes.fromhex(packed['advertisement']) if packed else b''


def structures(octets):
    while octets:
        yield octets[1], octets[2:octets[0] + 1]
        octets = octets[octets[0] + 1:]


def case(octets, key=None):
    """The advertisement as the libraries take it"""
    found = Case('sent', key=key)
    for kind, data in structures(octets):
        number = int.from_bytes(data[:2], 'little')
        if kind == 0x16:
            found.service[number] = data[2:]
        elif kind == 0xFF:
            found.maker[number] = data[2:]
    return found


def beacons(bletool, r):
    """(label, what was asked for, what a library reads) of beacons that identify themselves"""
    from TheengsDecoder import decodeBLE
    from beacontools import parse_packet
    for _ in range(10):
        name, major, minor, power = uuid.UUID(bytes=r.randbytes(16)), r.randint(0, 65535), r.randint(0, 65535), r.randint(-100, 20)
        octets = sent(bletool, '--ibeacon', f'{name},{major},{minor},{power}')
        read = parse_packet(octets)
        yield 'iBeacon', (str(name), major, minor, power), read and (read.uuid, read.major, read.minor, read.tx_power)
        maker = (0x4C).to_bytes(2, 'little') + case(octets).maker[0x4C]
        read = json.loads(decodeBLE(json.dumps({'id': 'A4:C1:38:11:22:33', 'rssi': -60, 'manufacturerdata': maker.hex()})) or '{}')
        # It has signed numbers, and no power of 0 dBm or more.
        numbers = tuple(read[k] & 0xFFFF for k in ('major', 'minor'))
        yield 'iBeacon, Theengs', (name.hex, major, minor), (read['uuid'], *numbers)
        if power < 0:
            yield 'iBeacon, Theengs', power, read['txpower']
        namespace, instance = r.randbytes(10).hex(), r.randbytes(6).hex()
        read = parse_packet(sent(bletool, '--eddystone-uid', f'{namespace},{instance},{power}'))
        yield 'Eddystone UID', (namespace, instance, power), read and (read.namespace, read.instance, read.tx_power)
    for url in ('https://example.com/', 'http://www.example.org', 'https://a.info/b.gov', 'https://www.goo.gl/Aa1', 'http://1.2.3.4/x?y=%20'):
        read = parse_packet(sent(bletool, '--eddystone-url', url))
        yield 'Eddystone URL', url, read and read.url


def measurements(bletool):
    """(label, what was asked for, what bthome-ble reads) of each quantity"""
    library = BTHome()
    names = known(bletool)
    for name in names:
        if name in LEFT_OUT:
            continue
        for value in [OWN_VALUES[name]] if name in OWN_VALUES else ['yes', 'no', '7', '-3'] + ['20.5'] * (name in FRACTIONS):
            packed = sent(bletool, '--bthome', f'{name}={value}')
            if packed:
                found = library.renamed(library.theirs(case(packed)))
                yield f'{name}={value}', name, value, found


def read(line):
    """What each library reads in {"data": octets that were heard, "address": of their sender, "key"}, under its own names"""
    from TheengsDecoder import decodeBLE
    from beacontools import parse_packet
    from bthome_ble.parser import BTHomeBluetoothDeviceData
    from sensor_libraries import information, update_values
    octets, key = bytes.fromhex(line['data']), bytes.fromhex(line.get('key', ''))
    heard = case(octets, key or None)
    found = {}
    if packet := parse_packet(octets):
        names = ('uuid', 'major', 'minor', 'tx_power', 'url', 'namespace', 'instance')
        found['beacontools'] = {name: getattr(packet, name) for name in names if hasattr(packet, name)}
    fields = {'id': line['address'], 'rssi': -60}
    for company, data in heard.maker.items():
        fields['manufacturerdata'] = (company.to_bytes(2, 'little') + data).hex()
    for number, data in heard.service.items():
        fields |= {'servicedatauuid': f'0x{number:04x}', 'servicedata': data.hex()}
    if decoded := decodeBLE(json.dumps(fields)):
        found['TheengsDecoder'] = json.loads(decoded)
    device, info = BTHomeBluetoothDeviceData(bindkey=key or None), information(heard, 'bleak')
    info.address = line['address']
    if values := update_values(device.update(info)):
        found['bthome-ble'] = values
    return found


def known(bletool):
    run = subprocess.run([bletool, 'ad', 'pack', '--bthome', 'no-such-name=1'], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=60)
    words = ' '.join(run.stderr.split()).split('known: ')[1].split('Help:')[0].split('Usage:')[0]
    return [w.strip(' .') for w in words.split(',')]


def sealed(bletool):
    """What bthome-ble reads of an encrypted beacon, once with each of two starts, whose counters differ"""
    from bthome_ble.parser import BTHomeBluetoothDeviceData
    from sensor_libraries import information, update_values
    with tempfile.TemporaryDirectory() as state:
        device = BTHomeBluetoothDeviceData(bindkey=KEY)
        for value in (21.5, -3.25):
            run = subprocess.Popen(
                [bletool, '--json', '--state', state, '-t', 'sim', 'advertise', '--bthome', f'temperature={value}', '--key', KEY.hex()],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
            try:
                octets = bytes.fromhex(json.loads(run.stdout.readline())['advertisement'])
            finally:
                run.terminate()
                _, notes = run.communicate(timeout=60)
            address = notes.split('encrypted for ')[1].split()[0]
            info = information(case(octets, KEY), 'bleak')
            info.address = address
            yield value, update_values(device.update(info)).get('temperature')
