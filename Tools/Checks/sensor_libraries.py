"""The libraries that `sensors` compares with: the advertisements that each knows, what it reads in one, and its names for our
values."""
import glob, json, os, re, tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.environ.get('SENSORS_DIR') or os.path.join(ROOT, '.cache', 'sensors')
ADDRESS = 'A4:C1:38:11:22:33'
KEY = bytes.fromhex('231d39c1d7cc1ab1aee224cd096db932')
BASE = '-0000-1000-8000-00805f9b34fb'


class Case:
    def __init__(self, label, name='', services=(), service=None, maker=None, key=None):
        self.label, self.name, self.services = label, name, list(services)
        self.service = service or {}     # 16-bit UUID: octets
        self.maker = maker or {}         # company: octets
        self.key = key

    def octets(self):
        def part(kind, data):
            return bytes([len(data) + 1, kind]) + data
        out = part(0x01, b'\x06')
        if self.name:
            out += part(0x09, self.name.encode())
        if self.services:
            out += part(0x03, b''.join(u.to_bytes(2, 'little') for u in self.services))
        for uuid, data in self.service.items():
            out += part(0x16, uuid.to_bytes(2, 'little') + data)
        for company, data in self.maker.items():
            out += part(0xFF, company.to_bytes(2, 'little') + data)
        return out


def information(case, kind):
    from bleak.backends.device import BLEDevice
    service = {f'0000{u:04x}{BASE}': d for u, d in case.service.items()}
    services = [f'0000{u:04x}{BASE}' for u in case.services]
    common = dict(name=case.name, address=ADDRESS, rssi=-60, manufacturer_data=case.maker, service_data=service,
                  service_uuids=services, source='')
    if kind == 'plain':
        from home_assistant_bluetooth import BluetoothServiceInfo
        return BluetoothServiceInfo(**common)
    from habluetooth import BluetoothServiceInfoBleak
    return BluetoothServiceInfoBleak(**common, device=BLEDevice(ADDRESS, case.name, None), advertisement=None, connectable=False,
                                     time=0.0, tx_power=None)


def update_values(update):
    """{key: value} of the libraries around sensor-state-data"""
    found = {}
    for key, value in update.entity_values.items():
        if key.key != 'signal_strength':
            found[getattr(key.key, 'value', key.key)] = value.native_value
    for key, value in update.binary_entity_values.items():
        found['?' + getattr(key.key, 'value', key.key)] = bool(value.native_value) if value.native_value is not None else None
    for key, event in update.events.items():
        found['!' + getattr(key.key, 'value', key.key)] = event
    return found


class Library:
    name = package = ''

    def cases(self, random):
        raise NotImplementedError

    def sealed_cases(self, random):
        """Cases that need the package cryptography."""
        return ()

    def theirs(self, case):
        raise NotImplementedError

    def renamed(self, found):
        """Their values under our names"""
        return found


BINARY = {'battery': 'battery_low', 'power': 'power_on', 'moisture': 'moisture_detected', 'gas': 'gas_detected',
          'carbon_monoxide': 'carbon_monoxide_detected'}
NAMES = {'light': 'illuminance', 'mass_non_stabilized': 'mass_non_stabilized', 'volatile_organic_compounds': 'volatile_organic_compounds',
         'co2': 'carbon_dioxide', 'consumable': 'consumable', 'profile_id': 'profile'}


def base(key):
    m = re.fullmatch(r'(.+?)(_\d+)?', key)
    return m[1], m[2] or ''


class BTHome(Library):
    package = 'bthome-ble'

    def cases(self, r):
        from bthome_ble.const import MEAS_TYPES
        from cryptography.hazmat.primitives.ciphers.aead import AESCCM

        def value(number):
            t = MEAS_TYPES[number]
            if t.data_format in ('raw', 'string'):
                text = b'Hello'[:r.randint(1, 5)]
                return bytes([len(text)]) + text
            if t.data_format == 'command':
                return bytes([2, 1, 2, 3])
            if number == 0x3A:
                return bytes([r.choice([1, 2, 3, 4, 5, 6, 0x80])])
            if number == 0x3C:
                return bytes([r.choice([1, 2]), r.randint(1, 255)])
            return r.randbytes(t.data_length)
        for number, t in MEAS_TYPES.items():
            for fill in (None, None, 0x00, 0xFF, 0x7F, 0x80):
                if fill is not None and (t.data_format in ('raw', 'string', 'command') or number in (0x3A, 0x3C)):
                    continue
                data = value(number) if fill is None else bytes([fill]) * t.data_length
                yield Case(f'object {number:02x}', service={0xFCD2: b'\x40' + bytes([number]) + data})
        numbers = [n for n in MEAS_TYPES if MEAS_TYPES[n].meas_format is not None]
        for i in range(60):
            chosen = sorted(r.choices(numbers, k=r.randint(2, 5)))
            payload = b''.join(bytes([n]) + value(n) for n in chosen)
            if i % 2:
                counter = r.randbytes(4)
                nonce = bytes.fromhex(ADDRESS.replace(':', '')) + b'\xd2\xfc\x41' + counter
                sealed = AESCCM(KEY, tag_length=4).encrypt(nonce, payload, None)
                yield Case('encrypted', service={0xFCD2: b'\x41' + sealed[:-4] + counter + sealed[-4:]}, key=KEY)
            else:
                yield Case('several', service={0xFCD2: b'\x44' + payload})

    def theirs(self, case):
        from bthome_ble.parser import BTHomeBluetoothDeviceData
        device = BTHomeBluetoothDeviceData(bindkey=case.key)
        return update_values(device.update(information(case, 'bleak')))

    def renamed(self, found):
        out = {}
        for key, value in found.items():
            name, number = base(key.lstrip('?!'))
            if key.startswith('?'):
                out[BINARY.get(name, name) + number] = value
            elif key.startswith('!'):
                out[name + number] = value.event_type
                if name == 'dimmer':
                    out['dimmer_steps' + number] = value.event_properties['steps']
                if name == 'command':
                    out[name + number] = None
            else:
                out[NAMES.get(name, name) + number] = value.strftime('%Y-%m-%dT%H:%M:%SZ') if hasattr(value, 'strftime') else value
        return out


class Xiaomi(Library):
    package = 'xiaomi-ble'
    LENGTHS = {0x0003: 1, 0x0006: 5, 0x0007: 1, 0x0008: 1, 0x000A: 2, 0x000B: 9, 0x000F: 3, 0x0010: 2, 0x1001: 3, 0x1004: 2, 0x1005: 2,
               0x1006: 2, 0x1007: 3, 0x1008: 1, 0x1009: 2, 0x1010: 2, 0x1012: 1, 0x1013: 1, 0x1014: 1, 0x1015: 1, 0x1017: 4, 0x1018: 1,
               0x1019: 1, 0x100A: 1, 0x100D: 4, 0x2000: 5, 0x4801: 4, 0x4802: 1, 0x4803: 1, 0x4804: 1, 0x4805: 4, 0x4806: 1, 0x4808: 4,
               0x480C: 1, 0x4818: 2, 0x483C: 1, 0x483D: 4, 0x483E: 4, 0x484E: 1, 0x4851: 1, 0x4852: 1, 0x4A01: 1, 0x4A0F: 1, 0x4A12: 1,
               0x4A1A: 1, 0x4C01: 4, 0x4C02: 1, 0x4C03: 1, 0x4C08: 4, 0x4E01: 1, 0x4E16: 9, 0x5003: 1, 0x5422: 1, 0x5810: 1, 0x6461: 1,
               0x6E16: 9}
    MODELS = {0x000F: [0x07F6, 0x0A83], 0x1007: [0x07F6, 0x0098], 0x4E16: [0x45C9], 0x6E16: [0x30D9], 0x000B: [0x04E9, 0x069F],
              0x4806: [0x7712, 0x3F0F], 0x484E: [0x4683, 0x50FB]}

    def cases(self, r):
        import struct
        from cryptography.hazmat.primitives.ciphers.aead import AESCCM

        def value(number, length, i):
            if number in (0x4801, 0x4805, 0x4808, 0x4C01, 0x4C08):
                return struct.pack('<f', round(r.uniform(-20, 90), 1))
            if i < 3:
                return bytes([i]) + r.randbytes(length - 1)
            return bytes([r.choice([0, 1, 2, 5, 50, 200])]) + r.randbytes(length - 1)
        reverse = bytes.fromhex(ADDRESS.replace(':', ''))[::-1]
        for number, length in self.LENGTHS.items():
            for model in self.MODELS.get(number, [0x2832]):
                for i in range(5):
                    payload = number.to_bytes(2, 'little') + bytes([length]) + value(number, length, i)
                    head = model.to_bytes(2, 'little') + bytes([r.randint(0, 255)])
                    if i % 2:
                        counter = r.randbytes(3)
                        sealed = AESCCM(KEY, tag_length=4).encrypt(reverse + head + counter, payload, b'\x11')
                        yield Case(f'object {number:04x} encrypted',
                                   service={0xFE95: b'\x58\x58' + head + reverse + sealed[:-4] + counter + sealed[-4:]}, key=KEY)
                    else:
                        yield Case(f'object {number:04x}', service={0xFE95: b'\x40\x50' + head + payload})
        for uuid, length in ((0x181D, 10), (0x181B, 13)):
            for i in range(20):
                data = bytearray(r.randbytes(length))
                place = 11 if uuid == 0x181B else 1
                data[place + 1] = r.choice([0, 0x20, 0x30])
                if i < 2:
                    data[place] = data[place + 1] = 0
                if uuid == 0x181B:
                    data[0] &= 1
                yield Case(f'scale {uuid:04x}', service={uuid: bytes(data)})

    def theirs(self, case):
        from xiaomi_ble.parser import XiaomiBluetoothDeviceData
        device = XiaomiBluetoothDeviceData(bindkey=case.key)
        return update_values(device.update(information(case, 'plain')))

    def renamed(self, found):
        out = {}
        for key, value in found.items():
            name = key.lstrip('?!')
            if key.startswith('?'):
                out[BINARY.get(name, name)] = value
            elif key.startswith('!'):
                if name == 'motion':
                    out['motion'] = True
                elif name == 'lock':
                    out['lock_action'] = value.event_type
            elif name != 'key_id':
                out[NAMES.get(name, name)] = value
        return out


class Ruuvi(Library):
    package = 'ruuvitag-ble'

    def cases(self, r):
        for first, length in ((3, 14), (5, 24), (6, 20), (0xE1, 40)):
            for fill in (None,) * 20 + (0x00, 0xFF, 0x7F, 0x80):
                data = bytearray(r.randbytes(length) if fill is None else bytes([fill]) * length)
                data[0] = first
                if first == 3:
                    data[3] %= 100
                    data[1] %= 201
                yield Case(f'format {first}', maker={0x0499: bytes(data)})
        # The source package comes with its tests: their octets.
        for path in glob.glob(os.path.join(FOLDER, 'sources', 'ruuvitag_ble-*.tar.gz')):
            with tarfile.open(path) as package:
                for member in package.getmembers():
                    if '/tests/' in member.name and member.isfile():
                        text = package.extractfile(member).read().decode()
                        for digits in re.findall(r'["\'](?=(?:03|05|06|E1))((?:[0-9A-Fa-f]{2}){14,40})["\']', text):
                            yield Case('their tests', maker={0x0499: bytes.fromhex(digits)})

    def theirs(self, case):
        from ruuvitag_ble import RuuvitagBluetoothDeviceData
        found = update_values(RuuvitagBluetoothDeviceData().update(information(case, 'plain')))
        return found

    def renamed(self, found):
        return {NAMES.get(k, k): v for k, v in found.items()}


class Govee(Library):
    package = 'govee-ble'

    def cases(self, r):
        for name, company, length in [
                ('GVH5075_1', 0xEC88, 6), ('GVH5072_1', 0xEC88, 6), ('', 0xEC88, 6), ('Govee_H5074_1', 0xEC88, 7), ('', 0xEC88, 7),
                ('GVH5101_1', 1, 6), ('GVH5102_1', 1, 6), ('GVH5174_1', 1, 6), ('GVH5177_1', 1, 6), ('GVH5108_1', 1, 8), ('', 1, 8),
                ('GV5179_1', 0x8801, 6), ('Govee_H5179_1', 0x8801, 9), ('', 0x8801, 9), ('B51782BC8', 1, 9), ('GVH5051_1', 0xEC88, 9),
                ('Govee_H5052_1', 0xEC88, 9), ('GVH5106_1', 1, 6), ('GV5112_1', 1, 8), ('GVH5140_1', 1, 8)]:
            for i in range(8):
                data = bytearray(r.randbytes(length))
                at = 1 if length == 6 and company == 0xEC88 else 3 if length == 9 and company == 1 else 2
                data[at] = r.choice([0x03, 0x04, 0x80, 0x83, 0x00])
                if name == 'GV5112_1':
                    data[7] = r.choice([0x41, 0x82])
                if name == 'GVH5140_1':
                    data[7] = i % 2
                if length == 9 and company == 1:
                    data[2] = i % 2
                yield Case(name or f'{company:04x}/{length}', name=name, maker={company: bytes(data)})
        for name, company, length in [('GVH5181', 0xF861, 14), ('GVH5182', 0x2730, 17), ('GVH5183', 0x67DD, 14), ('GVH5184', 0x1B36, 17),
                                      ('GVH5185', 0x4A32, 20), ('GVH5191', 0xAC63, 20), ('GVH5198', 0x3022, 20)]:
            for i in range(8):
                data = bytearray(r.randbytes(length))
                for at in range(8, length):
                    data[at] = data[at] if at % 2 else r.randint(0, 0x30)
                data[6] = r.choice([1, 2, 65, 130])
                yield Case(name, name=name, maker={company: bytes(data)})
        for i in range(12):
            data = bytearray(r.randbytes(20))
            data[3] = r.choice([0x03, 0x01, 0x02, 0x4C, 0x44, 0xB0, 0x90])
            yield Case('H5055', services=[0x5550], maker={0xB0AA: bytes(data)})
        for i in range(4):
            yield Case('H5127', name='GVH5127_1', maker={0x8803: b'\xec\x00\x01\x01' + bytes([i & 1, 17 if i & 2 else 0])})

    def sealed_cases(self, r):
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from govee_ble.parser import calculate_crc
        for number, name, states in ((3, 'GV5121', (1, 0)), (8, 'GV5122', (0,)), (2, 'GV5123', (1, 2)), (9, 'GV5124', (1, 0)),
                                     (10, 'GV5125', range(6)), (11, 'GV5126', (0, 1)), (13, 'GV5130', (0, 1, 0x10, 0x11)), (77, '', (1,))):
            for state in states:
                for named in (name + '1234', ''):
                    plain = bytes([1, r.randint(0, 255), number, 2, r.randint(0, 100), state]) + bytes(10)
                    time = r.randbytes(4)
                    encryptor = Cipher(algorithms.AES((time + bytes(12))[::-1]), modes.ECB()).encryptor()
                    sealed = (encryptor.update(plain[::-1]) + encryptor.finalize())[::-1]
                    crc = calculate_crc(sealed) ^ (1 if state == 0 and not named and number == 9 else 0)
                    data = r.randbytes(2) + time + sealed + crc.to_bytes(2, 'big')
                    yield Case(f'{name or "unknown"} {state}', name=named if name else '', maker={0x8803: data})

    def theirs(self, case):
        from govee_ble.parser import GoveeBluetoothDeviceData
        found = {}
        for key, value in update_values(GoveeBluetoothDeviceData().update(information(case, 'plain'))).items():
            if key in ('!motion', '!vibration'):
                found[key[1:]] = True
            elif key.startswith('!button_'):
                # Ours are numbered from 1, and not where there is only one.
                found['button' if case.label[:6] in ('GV5122', 'GV5130') else f'button_{int(key[8:]) + 1}'] = value.event_type
            else:
                found[key] = value
        return found

    def renamed(self, found):
        return {NAMES.get(k.lstrip('?'), k.lstrip('?')): (None if v == 'error' else v) for k, v in found.items()}


class InkbirdLibrary(Library):
    package = 'inkbird-ble'

    def cases(self, r):
        for name in ('sps', 'tps'):
            for i in range(20):
                temperature = r.randint(-3000, 6000)
                humidity = r.choice([0, 0xFFFF, r.randint(100, 10000)]) if name == 'tps' else r.randint(0, 10000)
                data = temperature.to_bytes(2, 'little', signed=True) + humidity.to_bytes(2, 'little') + r.randbytes(3)
                data += bytes([r.randint(0, 100), 6])
                yield Case(name, name=name, services=[0xFFF0], maker={int.from_bytes(data[:2], 'little'): data[2:]})
        for name in ('ibs-p02b', 'ITH-11-B', 'ITH-13-B', 'ITH-21-B'):
            for i in range(8):
                data = r.randbytes(6) + r.randint(-300, 600).to_bytes(2, 'little', signed=True)
                data += r.choice([0, r.randint(1, 1000)]).to_bytes(2, 'little') + bytes([r.randint(0, 100)]) + r.randbytes(7)
                yield Case(name, name=name, services=[0xFFF0], maker={int.from_bytes(data[:2], 'little'): data[2:]})
        for count in (1, 2, 4, 6):
            for i in range(6):
                data = r.randbytes(10) + b''.join(
                    r.choice([r.randint(-300, 3000), -1]).to_bytes(2, 'little', signed=True) for _ in range(count))
                yield Case(f'iBBQ-{count}', name='iBBQ', services=[0xFFF0], maker={int.from_bytes(data[:2], 'little'): data[2:]})

    def theirs(self, case):
        from inkbird_ble.parser import INKBIRDBluetoothDeviceData
        return update_values(INKBIRDBluetoothDeviceData().update(information(case, 'bleak')))


class SwitchBot(Library):
    package = 'PySwitchbot'
    KEYS = {
        'T': {}, 'i': {}, 'w': {}, '4': {}, '5': {'co2': 'carbon_dioxide'},
        'H': {'switchMode': 'switch_mode', 'isOn': 'on', 'battery': 'battery'},
        'd': {'contact_open': 'opening', 'contact_timeout': 'door_left_open', 'motion_detected': 'motion', 'is_light': 'light',
              'button_count': 'button_count', 'battery': 'battery'},
        's': {'motion_detected': 'motion', 'is_light': 'light', 'battery': 'battery'},
        'c': {'position': 'position', 'inMotion': 'moving', 'lightLevel': 'light_level', 'battery': 'battery'},
        '{': {'position': 'position', 'inMotion': 'moving', 'lightLevel': 'light_level', 'battery': 'battery'},
        'g': {'isOn': 'on', 'power': 'power'}, 'v': {'lightLevel': 'light_level'}, '%': {},
        '&': {'leak': 'leak', 'tampered': 'tamper', 'battery': 'battery', 'low_battery': 'battery_low'},
        'o': {'status': 'lock_state', 'door_open': 'door', 'battery': 'battery'},
        '$': {'status': 'lock_state', 'door_open': 'door', 'battery': 'battery'},
        'e': {'isOn': 'on', 'level': 'level'},
        'x': {'tilt': 'tilt', 'inMotion': 'moving', 'lightLevel': 'light_level', 'battery': 'battery'},
        ',': {'position': 'position', 'inMotion': 'moving', 'lightLevel': 'light_level', 'battery': 'battery'},
        '?': {'isOn': 'on', 'power': 'power'}, '<': {'isOn': 'on', 'power': 'power'}, ';': {'isOn': 'on'}, '=': {},
        '>': {'isOn': 'on', 'door_open': 'garage_door'}, "'": {'battery': 'battery', 'charging': 'battery_charging'},
        'b': {'battery': 'battery'}, 'y': {'battery': 'battery'}, '-': {'status': 'lock_state', 'battery': 'battery'},
        'u': {'isOn': 'on', 'brightness': 'brightness'}, 'r': {'isOn': 'on', 'brightness': 'brightness'},
        'q': {'isOn': 'on', 'brightness': 'brightness'},
    }

    # Those whose service data ends in a number.
    NUMBERS = {
        0x0010B940: {'lightLevel': 'light_level', 'motion_detected': 'motion'},
        0x0010CCC8: {'lightLevel': 'light_level', 'motion_detected': 'motion', 'battery': 'battery'},
        0x001053B0: {'battery': 'battery'},
        0x0010F3D8: {'isOn': 'on', 'motion_detected': 'motion', 'is_light': 'light', 'battery': 'battery'},
        0x00113640: {'isOn': 'on', 'target_temperature': 'target_temperature', 'mode': 'mode', 'door_open': 'window',
                     'battery': 'battery'},
        0x0010A5B8: {'status': 'lock_state', 'door_open': 'door', 'battery': 'battery'},
        0x0010FF90: {'status': 'lock_state', 'door_open': 'door', 'battery': 'battery'},
    }

    def cases(self, r):
        for number in self.NUMBERS:
            for i in range(12):
                service = r.randbytes(3) + (number | (i & 1) << 24).to_bytes(4, 'big') + (r.randbytes(1) if i & 2 else b'')
                # No letter of a model comes first.
                service = b'\x00' + service[1:]
                maker = bytearray(r.randbytes(17))
                maker[7] &= 0xBF if number in (0x0010A5B8, 0x0010FF90) else 0xFF
                if number == 0x00113640:
                    maker[11] = r.randint(0, 5) << 4 | r.randint(0, 5)
                yield Case(f'number {number:08x}', service={0xFD3D: service}, maker={0x0969: bytes(maker)})
        for letter, keys in self.KEYS.items():
            for i in range(12):
                service = bytearray(r.randbytes(9))
                service[0] = ord(letter)
                if i % 3 == 0 and letter in 'TiwHdsc':
                    maker = None
                else:
                    maker = bytearray(r.randbytes(17 if letter in 'v%5' else 14))
                    if letter in 'o$':
                        maker[7] &= 0x6F if letter == 'o' else 0xB7
                        maker[7] = maker[7] & 0x8F | r.randint(0, 6) << (4 if letter == 'o' else 3) if letter == 'o' else \
                            maker[7] & 0x87 | r.randint(0, 6) << 3
                    if letter == '5':
                        maker[13] = r.randint(0, 0x26)
                yield Case(f'model {letter}', service={0xFD3D: bytes(service)}, maker={0x0969: bytes(maker)} if maker else {})
        for i in range(6):
            yield Case('zeros', service={0xFD3D: b'T\x00\x64\x00\x80\x00'})

    def theirs(self, case):
        from bleak.backends.device import BLEDevice
        from bleak.backends.scanner import AdvertisementData
        from switchbot.adv_parser import parse_advertisement_data
        data = case.service[0xFD3D]
        letter = chr(data[0] & 0x7F)
        ends = [int.from_bytes(e, 'big') & 0xFFFFFF for e in (data[-4:], data[-5:-1])]
        keys = self.KEYS.get(letter) or next((self.NUMBERS[e] for e in ends if e in self.NUMBERS), {})
        service = {f'0000{u:04x}{BASE}': d for u, d in case.service.items()}
        data = AdvertisementData(case.name, case.maker, service, [], None, -60, ())
        parsed = parse_advertisement_data(BLEDevice(ADDRESS, case.name, None), data)
        values = parsed.data['data'] if parsed else {}
        out = {}
        for key, name in {'temperature': 'temperature', 'humidity': 'humidity', **keys}.items():
            if key in values:
                value = values[key]
                out[name] = value.name.lower() if hasattr(value, 'name') else value
        if letter == '=':
            for number in (1, 2):
                out |= {f'on_{number}': values[number]['isOn'], f'power_{number}': values[number]['power']}
        if letter in 'Tiw45' and 'battery' in values:
            out['battery'] = values['battery']
        return out


class Theengs(Library):
    package = 'TheengsDecoder'
    KEYS = {'tempc': 'temperature', 'hum': 'humidity', 'batt': 'battery', 'volt': 'voltage', 'pres': 'pressure', 'mfid': None,
            'major': 'major', 'minor': 'minor', 'lux': 'illuminance', 'moi': 'moisture', 'fer': 'conductivity', 'tempc1_': None,
            'accx': 'acceleration_x', 'accy': 'acceleration_y', 'accz': 'acceleration_z', 'mov': 'movement_counter', 'seq': 'sequence',
            'open': None, 'co2': 'carbon_dioxide', 'for': 'formaldehyde'}

    def cases(self, r):
        mac = bytes.fromhex(ADDRESS.replace(':', ''))
        for i in range(20):
            t, h = r.randint(-300, 600), r.randint(0, 100)
            yield Case('ATC', service={0x181A: mac + t.to_bytes(2, 'big', signed=True) + bytes([h, r.randint(0, 100)])
                                       + r.randint(2000, 3200).to_bytes(2, 'big') + bytes([i])})
            yield Case('pvvx', service={0x181A: mac[::-1] + (t * 10).to_bytes(2, 'little', signed=True) + (h * 100).to_bytes(2, 'little')
                                        + r.randint(2000, 3200).to_bytes(2, 'little') + bytes([r.randint(0, 100), i, 4])})
            data = bytearray(r.randbytes(24))
            data[0] = 5
            data[1:3] = (t * 20).to_bytes(2, 'big', signed=True)
            data[3:5] = (h * 400).to_bytes(2, 'big')
            yield Case('Ruuvi 5', maker={0x0499: bytes(data)})
            yield Case('LYWSDCGQ', service={0xFE95: bytes.fromhex('5020aa01') + bytes([i]) + mac[::-1] + bytes.fromhex('0d1004')
                                            + t.to_bytes(2, 'little', signed=True) + (h * 10).to_bytes(2, 'little')})
            yield Case('HHCCJCY01', service={0xFE95: bytes.fromhex('71209800') + bytes([i]) + mac[::-1] + bytes.fromhex('0d041002')
                                             + t.to_bytes(2, 'little', signed=True)})
            packed = (abs(t) * 1000 + h * 10).to_bytes(3, 'big')
            yield Case('GVH5075', name='GVH5075_1122', maker={0xEC88: b'\x00' + packed + bytes([r.randint(0, 100), 0])})

    def theirs(self, case):
        from TheengsDecoder import decodeBLE
        given = {'id': ADDRESS, 'rssi': -60}
        if case.name:
            given['name'] = case.name
        for uuid, data in case.service.items():
            given |= {'servicedata': data.hex(), 'servicedatauuid': f'0x{uuid:04x}'}
        for company, data in case.maker.items():
            given['manufacturerdata'] = (company.to_bytes(2, 'little') + data).hex()
        text = decodeBLE(json.dumps(given))
        found = json.loads(text) if text else {}
        return {name: found[key] for key, name in self.KEYS.items() if name and key in found}


LIBRARIES = [BTHome(), Xiaomi(), Govee(), Ruuvi(), InkbirdLibrary(), SwitchBot(), Theengs()]
