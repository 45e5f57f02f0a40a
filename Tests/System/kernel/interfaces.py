"""Which interfaces, methods, properties and signals two daemons have, by their own introspection, as a table."""
import xml.etree.ElementTree as ElementTree

from jelling.bluez import DESCRIPTOR, HCI0, PEER, Ear

INTROSPECTABLE = 'org.freedesktop.DBus.Introspectable'
KINDS = ['method', 'property', 'signal']
# Why something of BlueZ's is absent here, by interface, or by interface and member.
CLASSIC = 'of classic Bluetooth'
ABSENT = {
    'org.bluez.HealthManager1': CLASSIC, 'org.bluez.ProfileManager1': 'profiles over RFCOMM, ' + CLASSIC,
    'org.bluez.NetworkServer1': CLASSIC, 'org.bluez.Media1': 'audio', 'org.bluez.SimAccess1': CLASSIC,
    'org.bluez.BatteryProviderManager1': 'batteries that a client knows of, mostly from audio profiles',
}
# Why something is here that BlueZ 5.66 has not.
ADDED = {
    'Adapter1.Manufacturer': 'BlueZ has it since 5.69', 'Adapter1.Version': 'BlueZ has it since 5.69',
}
# What is declared otherwise.
OTHERWISE = {'Adapter1.ConnectDevice': 'BlueZ does not declare the object that it answers with'}


def introspected(desk):
    """{(interface, kind, member): its types and access} of all kinds of objects of a connected device."""
    async def work():
        async with Ear() as ear:
            await ear.connect()
            await ear.wait(lambda note: note[0] == 'added' and 'org.bluez.Battery1' in note[2], 'the battery')
            characteristic = await ear.attribute('2A19')
            descriptor = await ear.attribute('2902', characteristic, DESCRIPTOR)
            paths = ['/', '/org/bluez', HCI0, PEER, characteristic.rpartition('/')[0], characteristic, descriptor]
            return [await ear.call(path, INTROSPECTABLE, 'Introspect') for path in paths]
    found = {}
    for text in desk.go(work()):
        for interface in ElementTree.fromstring(text).iter('interface'):
            found |= members(interface)
    return found


def members(interface):
    found = {(interface.get('name'), '', ''): ''}
    for member in interface:
        if member.tag in KINDS:
            arguments = [(one.get('direction', 'in'), one.get('type')) for one in member.iter('arg')]
            types = member.get('type') or '→'.join(''.join(kind for where, kind in arguments if where == way) for way in ('in', 'out'))
            found[interface.get('name'), member.tag, member.get('name')] = ' '.join(filter(None, [types, member.get('access', '')]))
    return found


def reason(reasons, interface, member):
    short = interface.removeprefix('org.bluez.')
    return reasons.get(f'{short}.{member}', reasons.get(interface, '?'))


def table(theirs, ours):
    """In Markdown: a row for the members of an interface and a kind that both have, and one for those that only one has, by the reason."""
    rows = {}
    for interface, kind, member in sorted({*theirs, *ours}, key=lambda key: (key[0], (['', *KINDS]).index(key[1]), key[2])):
        key = interface, kind, member
        if not kind and any(other[0] == interface and other[1] for other in {*theirs, *ours}):
            continue
        if key in theirs and key in ours:
            row = ('yes', 'yes', '' if theirs[key] == ours[key] else reason(OTHERWISE, interface, member))
        elif key in theirs:
            row = ('yes', '–', reason(ABSENT, interface, member))
        else:
            row = ('–', 'yes', reason(ADDED, interface, member))
        rows.setdefault((interface, kind, *row), []).append(f'`{member}`' if member else '–')
    lines = ['| interface | kind | members | BlueZ | here | why |', '|---|---|---|---|---|---|']
    for (interface, kind, there, here, why), names in rows.items():
        shown = interface.removeprefix('org.bluez.').removeprefix('org.freedesktop.DBus.')
        lines.append(f'| `{shown}` | {kind} | {", ".join(names)} | {there} | {here} | {why} |')
    return '\n'.join(lines) + '\n'
