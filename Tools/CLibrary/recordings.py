"""Writes the recordings of Fixtures as calls of jelling.h, a line each, for Tools/CLibrary/replay.c."""
import glob, json, os, struct

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IO = {3: 0, 0: 1, 1: 2, 2: 3, 4: 4}     # HCI's number -> jelling.h's


def packets(name):
    """(is from the controller, octets) of each H4 packet of the capture beside a recording."""
    path = next(p for p in (name + '.btsnoop', name + '.pcap') if os.path.exists(p))
    with open(path, 'rb') as f:
        data = f.read()
    at = 16 if path.endswith('.btsnoop') else 24
    while at < len(data):
        if path.endswith('.btsnoop'):
            _, length, flags = struct.unpack_from('>III', data, at)
            at += 24
            yield bool(flags & 1), data[at:at + length]
        else:
            order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
            length, = struct.unpack_from(order + 'I', data, at + 8)
            at += 16
            yield bool(struct.unpack_from('>I', data, at)[0] & 1), data[at + 4:at + length]
        at += length


def octets(values):
    return bytes(values).hex() or '-'


def text(value):
    return value.encode().hex() if value else '-'


def list_of(values):
    return ','.join(map(str, values)) or '-'


def link(value):
    return value['generation'] << 16 | value['handle']


def engine(name, c):
    flags, security = 0, c.get('security', {})
    bearers = c.get('enhancedBearers')
    pairing = security.get('pairing', {})
    if c.get('hasToolbox'):
        flags |= 1
    if c.get('usesControllerResolution'):
        flags |= 4
    if bearers:
        flags |= 64
    if c.get('timing', {}).get('allowsSubrating'):
        flags |= 128
    if c.get('tellsAddressResolution'):
        flags |= 256
    company = 0
    if overflow := c['advertising']['overflow'].get('on'):
        flags, company = flags | 8, overflow['company']
    kind, own = next(iter(c['ownAddress'].items()))
    address = own.get('fallback') or own.get('_0')
    settings = sum(bit for bit, name, usual in (
        (1, 'pairsOnDemand', True), (2, 'encryptsAtConnection', True), (8, 'acceptsPairing', True),
        (16, 'followsSecurityRequests', True)) if not security.get(name, usual))
    settings |= 4 if security.get('requestsSecurity') else 0
    options = sum(bit for bit, name in (
        (2, 'requiresAuthentication'), (4, 'prefersAuthentication'), (16, 'requiresSecureConnections'), (64, 'asksConsent'),
        (128, 'replacesBond'), (256, 'acceptsDebugKeys')) if pairing.get(name))
    options |= (0 if pairing.get('isBonding', True) else 1) | (0 if pairing.get('allowsSecureConnections', True) else 8)
    options |= (32 if pairing.get('passkey') is not None else 0) | (512 if pairing else 0)
    return ['engine', name, flags, {'automatic': 0, 'public': 1, 'random': 2, 'resolvable': 3}[kind], address, company,
            c.get('privateAddressLifetime', 900000000) // 1000000, settings, security.get('identityResolvingKey') or '-',
            options, IO[pairing.get('ioCapability', 3)], pairing.get('passkey') or 0, pairing.get('minimumKeySize', 16),
            pairing.get('maximumKeySize', 16), pairing.get('initiatorKeys', 7), pairing.get('responderKeys', 7),
            bearers['opened'] if bearers else 0, *policy(c.get('timing', {}).get('parameterPolicy'))]


def blob(bond):
    """A bond as BondBlob.swift writes it."""
    def key(text):
        return bytes.fromhex(text)[::-1]

    flags, parts = 0, b''
    for bit, name in ((1, 'isSecureConnections'), (2, 'isAuthenticated'), (4, 'isUnasked')):
        flags |= bit if bond.get(name) else 0
    if bond.get('identityResolvingKey'):
        flags, parts = flags | 8, parts + key(bond['identityResolvingKey'])
    for bit, name in ((16, 'localKey'), (32, 'peerKey')):
        if value := bond.get(name):
            flags |= bit
            parts += key(value['key']) + struct.pack('<HQ', value['encryptedDiversifier'], value['randomNumber'])
    for bit, name in ((64, 'localSigningKey'), (128, 'peerSigningKey')):
        if value := bond.get(name):
            flags |= bit
            parts += key(value['key']) + struct.pack('<I', value['counter'])
    if record := bond.get('clientRecord'):
        flags |= 256
        parts += struct.pack('<BQH', record['features'], record['knownTable'], len(record['configurations']))
        for c in record['configurations']:
            parts += struct.pack('<HHBQ', c['handle'], c['modes'], c.get('owner') is not None, c.get('owner') or 0)
    if name := bond.get('name'):
        flags, parts = flags | 512, parts + bytes([len(name.encode())]) + name.encode()
    address, kind = bond['identity'].split('/')
    whole = (b'JB\1' + struct.pack('<H', flags) + bytes.fromhex(address.replace(':', ''))[::-1]
             + bytes([kind == 'random', bond['keySize']]) + parts + struct.pack('<Q', bond.get('lastUse') or 0))
    check = 0x811C9DC5
    for octet in whole:
        check = (check ^ octet) * 0x01000193 & 0xFFFFFFFF
    return (whole + struct.pack('<I', check)).hex()


def gatt(at, number, operation):
    verb, v = next(iter(operation.items()))
    first = v.get('_0')
    span = [first['first'], first['last']] if isinstance(first, dict) and 'first' in first else None
    return ['gatt', at, *{
        'discoverServices': lambda: ['services', number, list_of(v.get('uuids', []))],
        'discoverIncludedServices': lambda: ['includes', number, *span],
        'discoverCharacteristics': lambda: ['characteristics', number, *span, list_of(v.get('uuids', []))],
        'discoverDescriptors': lambda: ['descriptors', number, *span],
        'readUsingUUID': lambda: ['values', number, v['_1']['first'], v['_1']['last'], first],
        'exchangeMTU': lambda: ['mtu', number, v['preferred']],
        'read': lambda: ['read', number, first],
        'write': lambda: ['write', number, first, octets(v['value'])],
        'writeCommand': lambda: ['command', number, first, octets(v['value'])],
        'writeSigned': lambda: ['signed', number, first, octets(v['value'])],
        'subscribe': lambda: ['subscribe', number, first, v['configuration'], v['mode']],
        'unsubscribe': lambda: ['unsubscribe', number, first],
        'readMultipleVariable': lambda: ['several', number, *first],
        'reliableWrite': lambda: ['reliable', number, *(x for w in first for x in (w['handle'], octets(w['value'])))],
    }[verb]()]


def publish(at, service):
    words = ['publish', at, service['uuid'], int(service['isPrimary']), list_of(service['includedServices'])]
    for c in service['characteristics']:
        value = '?' if c.get('value') is None else octets(c['value'])
        words += ['c', c['uuid'], c['properties'], c['permissions'], value, int(c['needsEncryptionToSubscribe']),
                  c['minimumKeySize']]
        for d in c['descriptors']:
            words += ['d', d['uuid'], d['permissions'], '?' if d.get('value') is None else octets(d['value'])]
    return words


def parameters(request):
    """A ConnectionParameterRequest."""
    return [*request['interval'], request['peripheralLatency'], request['supervisionTimeout']]


def policy(value):
    """A ParameterPolicy, as words of jelling_parameter_policy; a kind of 9: none."""
    kind, bounds = next(iter((value or {'none': {}}).items()))
    if kind != 'within':
        return [{'accept': 0, 'reject': 1, 'none': 9}[kind], 0, 0, 0, 0, 0]
    return [2, *bounds['_0'], bounds['latency'], *bounds.get('supervisionTimeout', (0, 0))]


def connect(at, request):
    pace = request.get('pace')
    return ['connect', at, request['peer'], request['establishmentRetries'], request.get('phys', 0),
            *policy(request.get('parameterPolicy')), *(
        [pace['idleSpan'] // 1000, *parameters(pace['busy']), *parameters(pace['idle'])] if pace else [])]


def advertised_set(request):
    """Words of an AdvertisingSetRequest, with its train at the end."""
    flags = sum(bit for bit, name in (
        (1, 'usesLegacyPDUs'), (2, 'isConnectable'), (4, 'isScannable'), (8, 'isAnonymous'), (16, 'includesTransmitPower'))
        if request[name])
    flags |= 0 if request['resumesAfterConnection'] else 32
    flags |= (64 if 'identifier' in request else 0) | (128 if 'transmitPower' in request else 0)
    words = [flags, octets(request['data']), octets(request['scanResponse']), request.get('address', '-'), request['interval'],
             request.get('duration', 0) // 1000, request['primaryPHY'], request['secondaryPHY'], request.get('identifier', 0),
             request.get('transmitPower', 0), request['maximumEvents']]
    if train := request.get('train'):
        words += [(1 if train['includesDataInformation'] else 0) | (2 if train['includesTransmitPower'] else 0),
                  octets(train['data']), train['interval']]
    return words


def followed(options, flags=0, sources=()):
    flags |= 4 if options['reportsOnlyChanges'] else 0
    return [flags, options['skip'], options['timeout'], *sources]


def follow(at, request):
    flags = (1 if request['scansCodedPHY'] else 0) | (0 if request['resumesAfterLoss'] else 2)
    sources = [x for a in request['advertisers'] for x in (a['address'], a['identifier'])]
    return ['follow', at, *followed(request['options'], flags, sources)]


def path_loss(at, of, zones):
    if not zones:
        return ['pathloss', at, of]
    return ['pathloss', at, of, zones['low'], zones['lowHysteresis'], zones.get('high', 0), zones['highHysteresis'],
            zones['minimumEvents']]


def command(at, what):
    verb, v = next(iter(what.items()))
    first = v.get('_0')
    if verb == 'gatt':
        return gatt(at, link(first), v['_1'])
    if verb == 'scan':
        flags = (0 if first['isActive'] else 1) | (2 if first['allowsDuplicates'] else 0) | (4 if first['isInBackground'] else 0)
        flags |= 8 if first.get('scansCodedPHY') else 0
        flags |= 16 if first.get('includesUnresolvedTargets') else 0
        return ['scan', at, flags, text(first.get('name')), first.get('minimumRSSI') or 0, list_of(first['serviceUUIDs']),
                *first.get('acceptList', [])]
    if verb == 'advertise':
        flags = ((0 if first['isConnectable'] else 1) | (2 if first['isInBackground'] else 0)
                 | (0 if first['resumesAfterConnection'] else 4))
        content = first['content']['packed']
        return ['advertise', at, flags, text(content.get('localName')), list_of(content['serviceUUIDs'])]
    if verb == 'respond':
        answer, value = next(iter(v['_1'].items()))
        if answer == 'value':
            return ['value', at, first, octets(value['_0'])]
        return ['written', at, first] if answer == 'success' else ['refuse', at, first, value['_0']]
    if verb == 'nameBond':
        return ['name', at, first, text(v['_1'])]
    if verb == 'answerPairing':
        answer, value = next(iter(v['_1'].items()))
        return [answer, at, first, int(value['_0'])]
    return {
        'connect': lambda: connect(at, first),
        'advertiseSet': lambda: ['set', at, *advertised_set(first)],
        'changeAdvertisingSet': lambda: ['changeset', at, first, *advertised_set(v['_1'])],
        'followTrain': lambda: follow(at, first),
        'receiveTrains': lambda: ['trains', at, link(first), *followed(v['_1'])],
        'transferTrain': lambda: ['transfer', at, first, link(v['to']), v['serviceData']],
        'classifyChannels': lambda: ['channels', at, first],
        'readRSSI': lambda: ['rssi', at, link(first)], 'readPHY': lambda: ['phy', at, link(first)],
        'readTransmitPower': lambda: ['power', at, link(first), 0, v['phy']],
        'readRemoteTransmitPower': lambda: ['power', at, link(first), 1, v['phy']],
        'reportTransmitPower': lambda: ['reports', at, link(first), int(v['local']), int(v['remote'])],
        'setSubrate': lambda: ['subrate', at, link(first), *(v['_1'][key] for key in (
            'minimumFactor', 'maximumFactor', 'maximumLatency', 'continuationNumber', 'supervisionTimeout'))],
        'monitorPathLoss': lambda: path_loss(at, link(first), v.get('zones')),
        'openEnhancedChannels': lambda: ['enhanced', at, link(first), v['spsm'], v['count'], v['_2']['maximumTransmissionUnit'],
                                         v['_2']['maximumPayloadSize'], v['_2']['credits']],
        'openChannel': lambda: ['open', at, link(first), v['spsm'], v['_2']['maximumTransmissionUnit'], v['_2']['maximumPayloadSize'],
                                v['_2']['credits']],
        'listenForChannels': lambda: ['listen', at, v['spsm'], v['_1']['maximumTransmissionUnit'], v['_1']['maximumPayloadSize'],
                                      v['_1']['credits'], int(v['requiresEncryption'])],
        'stopListeningForChannels': lambda: ['unlisten', at, v['spsm']],
        'encrypt': lambda: ['encrypt', at, link(first)],
        'setAuthenticatedPayloadTimeout': lambda: ['payload', at, link(first), v['_1'] // 1000],
        'sendOnChannel': lambda: ['send', at, link(first['link']), first['number'], octets(v['_1'])],
        'consumeChannelData': lambda: ['consume', at, link(first['link']), first['number'], v['units']],
        'closeChannel': lambda: ['close', at, link(first['link']), first['number']],
        'cancel': lambda: ['cancel', at, first], 'stop': lambda: ['stop', at], 'pair': lambda: ['pair', at, link(first)],
        'disconnect': lambda: ['disconnect', at, link(first)], 'publish': lambda: publish(at, first),
        'updateValue': lambda: ['update', at, first, octets(v['value'])],
        'restoreBonds': lambda: ['restore', at, *map(blob, first)],
    }[verb]()


def script(name):
    """The lines of one recording; without a last line that was cut off when its program was killed."""
    both = list(packets(name))
    received = [p for is_received, p in both if is_received]
    lines = open(name + '.inputs.jsonl').read().split('\n')[:-1]
    yield engine(os.path.basename(name), json.loads(lines[0])['configuration'])
    for is_received, packet in both:
        if not is_received:
            yield ['sent', packet.hex()]
    for line in lines[1:]:
        o = json.loads(line)
        at = o['at']
        if 'packet' in o:
            yield ['packet', at, received[o['packet']].hex()]
        elif 'command' in o:
            yield command(at, o['command'])
        elif 'result' in o:
            kind, v = next(iter(o['result'].items()))
            if kind == 'octets':
                yield ['answer', at, o['toolbox'], octets(v['_0'])]
            else:
                key = v['publicKey']
                yield ['keys', at, o['toolbox'], octets(v['privateKey']), octets(key['x'] + key['y'])]
        else:
            for key, word in (('transportOpened', 'opened'), ('transportClosed', 'closed'), ('advance', 'advance')):
                if o.get(key):
                    yield [word, at]
    yield ['end']


# LE Set Event Mask, and its bits for trains with responses (Core 5.4, Vol 4, Part E, 7.8.1).
LE_SET_EVENT_MASK = bytes.fromhex('01012008')
RESPONSE_EVENTS = 0x1F << 35


def is_for_c(name):
    """Whether the library can do that: it does not offer periodic trains with responses, and asks for none of their events."""
    lacking = ('"sendSubevents":', '"respondInTrain":')
    with open(name + '.inputs.jsonl') as file:
        if any(word in line for line in file for word in lacking):
            return False
    masks = [int.from_bytes(packet[4:], 'little') for is_received, packet in packets(name)
             if not is_received and packet.startswith(LE_SET_EVENT_MASK)]
    return not any(mask & RESPONSE_EVENTS for mask in masks)


def names():
    every = [p.removesuffix('.inputs.jsonl') for p in sorted(glob.glob(os.path.join(ROOT, 'Fixtures', '*.inputs.jsonl')))]
    return [name for name in every if is_for_c(name)]


def all_lines():
    return ''.join(' '.join(map(str, line)) + '\n' for name in names() for line in script(name))


if __name__ == '__main__':
    print(all_lines(), end='')
