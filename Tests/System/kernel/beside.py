"""BlueZ's daemon beside ours: what they say on the bus as lines of words, and the differences that are known."""
import collections, difflib, json, re

HOSTS = ['bluetoothd', 'ours']
BUS = 'org.freedesktop.DBus'
PREFIXES = ['org.bluez.Error.', 'org.bluez.', 'org.freedesktop.DBus.Error.', 'org.freedesktop.DBus.', '/org/bluez/']
# Values that are others each time, or belong to the machine.
MASKED = {'Name', 'Alias', 'Address', 'Modalias', 'Class', 'RSSI', 'TxPower'}
# Answers that are long; what is in them shows elsewhere.
SHORT = ('GetManagedObjects', 'Introspect')

# Scripts of which BlueZ does something else, with words for it that are in Documentation/BlueZ.md.
BLUEZ_DIFFERS = {
    'order.discovery': 'the kernel has the controller filter duplicates',
    'order.connection': '`RemoveDevice` of a connected device is answered before it is gone',
    'order.pairing': '`AuthenticationFailed`',
}
# What only one of them says on the bus, by words of Documentation/BlueZ.md for it: `-` is BlueZ.
KNOWN = {
    'the kernel has the controller filter duplicates': [r'^\+ signal hci0/dev_\w+ Device1 \{RSSI: …\}$'],
    'its scan response adds': [r'^\+ signal hci0/dev_\w+ Device1 \{(RSSI: …, )?UUIDs: \['],
    '`Value` of Database Hash': ['UUID: 00002b2a-'],
    '`Paired` and `Bonded` come in one signal': [r'^- signal hci0/dev_\w+ Device1 \{(Bonded: true|Paired: true, ServicesResolved: true)',
                                                 r'^\+ signal hci0/dev_\w+ Device1 \{(Bonded: true, Paired: true|ServicesResolved: true, UUIDs)'],
    '`WakeAllowed` of every bonded device': [r'reply hci0/dev_\w+ Properties.GetAll .*Bonded: true'],
    'UUIDs of classic Bluetooth': [r'reply hci0 Properties\.(GetAll|Get UUIDs) \['],
    'an acquired socket also ends': [r'^\+ signal .*\{(Notify|Write)Acquired: false\}'],
}
# The same, in one session only.
KNOWN_IN = {
    # Its link may end before the level has been read.
    'bluetoothctl.pairing': {'right after the services': [r'^[+-] signal (added|removed) .*Battery1']},
}
# What both say, in another order.
MOVED = {
    'right after the services': ['Battery1'],
    '`RemoveDevice` of a connected device': ['^reply hci0 Adapter1.RemoveDevice', r'^signal hci0/dev_\w+ Device1 \{Connected: false\}'],
    '`RegisterMonitor` is answered before': ['^reply hci0 AdvertisementMonitorManager1.RegisterMonitor', '^asks / ObjectManager.GetManagedObjects'],
    'nothing to do with each other': ['^reply / ObjectManager.GetManagedObjects', '^reply .* Properties.(Get|GetAll|Set) ',
                                      r'^signal hci0 Adapter1 \{(Alias|Pairable|Discovering: true)', r'^signal added hci0/dev_\w+ \{Device1',
                                      r'GattCharacteristic1 \{(Value: |(Notify|Write)Acquired: false\})', 'WriteValue'],
}


def unnamed(theirs, ours, session=None):
    """The lines in which they differ, but for what is known of every session and of this one."""
    alone = {**KNOWN, **KNOWN_IN.get(session, {})}
    found = [line for line in difflib.ndiff(theirs, ours) if line[0] in '+-']
    counts = {sign: collections.Counter(line[2:] for line in found if line[0] == sign) for sign in '+-'}

    def is_known(line):
        has_moved = counts['+'][line[2:]] == counts['-'][line[2:]]
        rows, text = (MOVED, line[2:]) if has_moved else (alone, line)
        return any(re.search(pattern, text) for patterns in rows.values() for pattern in patterns)
    return [line for line in found if not is_known(line)]


def sequence(messages, owner):
    """What the owner of `org.bluez` says, in its order; calls of clients are not in it, since these decide when they come."""
    calls, lines = {}, []
    for message in messages:
        kind, sender, destination = message.get('type'), message.get('sender'), message.get('destination')
        values = plain(message.get('payload', {}).get('data', []))
        where = f'{short(message.get("path") or "")} {short(message.get("interface") or "")}.{message.get("member")}'
        # The peer's adapter is one of BlueZ's, too.
        if message.get('path') == '/org/bluez/hci1':
            continue
        if kind == 'method_call' and sender != owner:
            calls[sender, message['cookie']] = where + (f' {values[-1]}' if where.endswith('Properties.Get') else '')
        elif sender != owner or destination == BUS:
            continue
        elif kind == 'method_call':
            lines.append(f'asks {where} {words(values)}')
        elif kind == 'signal':
            lines.append(signal(message, values, where))
        else:
            called = calls.pop((destination, message['reply_cookie']), '?')
            is_short = called.endswith(SHORT) or called.split()[-1] in MASKED
            lines.append(f'{"reply" if kind == "method_return" else short(message["error_name"])} {called} {"…" if is_short else words(values)}')
    return once(lines)


def signal(message, values, where):
    path = short(message['path'])
    if message['member'] == 'PropertiesChanged':
        gone = f' without {", ".join(values[2])}' if values[2] else ''
        return f'signal {path} {short(values[0])} {words(values[1])}{gone}'
    if message['member'] == 'InterfacesAdded':
        interfaces = {short(name): inner for name, inner in values[1].items()}
        # Before and after the scan response.
        if 'UUIDs' in interfaces.get('Device1', {}):
            interfaces['Device1']['UUIDs'] = '…'
        return f'signal added {short(values[0])} {words(interfaces)}'
    if message['member'] == 'InterfacesRemoved':
        return f'signal removed {short(values[0])} {words(sorted(values[1]))}'
    return f'signal {where} {words(values)}'


def once(lines):
    """RSSI, which comes again and again, is there once."""
    return [line for number, line in enumerate(lines) if not number or line != lines[number - 1] or not line.endswith('Device1 {RSSI: …}')]


def short(text):
    for prefix in PREFIXES:
        text = text.removeprefix(prefix)
    return text


def plain(value):
    """Without the types of variants, octets as digits."""
    if isinstance(value, dict):
        if set(value) == {'type', 'data'}:
            return bytes(value['data']).hex() if value['type'] == 'ay' else plain(value['data'])
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def words(value):
    if isinstance(value, dict):
        return '{' + ', '.join(f'{key}: {"…" if key in MASKED else words(inner)}' for key, inner in sorted(value.items())) + '}'
    if isinstance(value, list):
        return '[' + ', '.join(map(words, value)) + ']'
    return short(value) if isinstance(value, str) else json.dumps(value)
