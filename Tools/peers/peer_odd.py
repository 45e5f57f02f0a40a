#!/usr/bin/env python3
"""A Bumble device with habits that other makes of hosts have, and that the specification allows or tolerates.

  peer_odd.py TRANSPORT HABIT… [--delay S]          advertise as BumblePeer with services of all shapes
  peer_odd.py TRANSPORT HABIT… --central NAME       connect to a peripheral, and go through its values

Habits:
  holds-att   answers no ATT request while the link is not encrypted; a peripheral asks for security first
  indicates   indicates and notifies values that nobody subscribed to, from the connection on
  nests       has included services in the middle of the one that includes them
  late        answers the first Read Request for its temperature after --delay, other requests at once
  changes     gets another service in the middle of being discovered, and tells by Service Changed
  verifies    with --no-sc: gives a central that pairs no key to encrypt with, and verifies the signatures of what it writes

Prints one JSON object per line."""
import asyncio, struct

from bumble import att, crypto, hci, smp
from bumble.att import Attribute
from bumble.core import AdvertisingData, UUID
from bumble.device import AdvertisingType, Peer
from bumble.pairing import PairingDelegate
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, IncludedServiceDeclaration, Service

from peer_common import BASE, ENC, SVC, arguments, ended, event, find, open_device

P, R, W = Characteristic.Properties, Attribute.READABLE, Attribute.WRITEABLE
keys = PairingDelegate.KeyDistribution
LATE_SERVICE = BASE % 0x30
SIGNED = BASE % 0x60
SIGNING_KEY = bytes(range(16))
FORMAT = bytes([4, 0, 1, 0x27, 1, 0, 0])


def constant(value):
    return CharacteristicValue(read=lambda _: value, write=lambda *_: None)


def signature(message, key):
    return crypto.aes_cmac(message[::-1], key[::-1])[:8][::-1]


def services(nested):
    """Services with long and short UUIDs that include each other, values with two formats and a list of them."""
    long = [Service(BASE % (0x40 + i), [Characteristic(BASE % (0x50 + i), P.READ, R, constant(bytes([i])))])
            for i in range(3)]
    battery = Service('180F', [Characteristic('2A19', P.READ | P.NOTIFY, R, constant(b'\x57'))])
    formatted = Characteristic('2A6E', P.READ | P.INDICATE, R, constant(b'\x34\x08'), [
        Descriptor('2904', R, FORMAT), Descriptor('2904', R, FORMAT), Descriptor('2905', R, bytes(4))])
    secret = Characteristic(ENC, P.READ | P.WRITE, R | W | Attribute.READ_REQUIRES_ENCRYPTION, constant(b'secret'))
    included = [long[0], battery, long[1], long[2]]
    whole = Service(SVC, [formatted, secret], included_services=included)
    return ([whole] if nested else [*included, whole]), formatted


class Habits:
    def __init__(self, device, args):
        self.device, self.args = device, args
        self.requests, self.held, self.tasks = 0, [], set()
        self.was_late = False
        offered, self.formatted = services('nests' in args.habits)
        device.add_services(offered)
        for include in device.gatt_server.attributes:
            # Of a long UUID, which such a declaration must not have, Bumble writes the first two octets.
            if isinstance(include, IncludedServiceDeclaration) and len(bytes(include.service.uuid)) > 2:
                include.value = include.value[:4]
        if 'verifies' in args.habits:
            self.signed = Characteristic(SIGNED, P.READ | P.AUTHENTICATED_SIGNED_WRITES, R | W, b'\0')
            self.signing_key, self.counters = None, []
            device.add_service(Service(BASE % 0x61, [self.signed]))
        self.changed = device.gatt_service.service_changed_characteristic
        self.pass_on = device.gatt_server.on_gatt_pdu
        device.gatt_server.on_gatt_pdu = self.received
        device.on('connection', self.connected)

    def spawn(self, work):
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def connected(self, connection):
        event('connected', peer=str(connection.peer_address))
        connection.on('disconnection', lambda reason: event('disconnected', reason=int(reason)))
        connection.on('connection_encryption_change', lambda: self.encrypted(connection))
        connection.on('pairing', self.paired)
        if 'holds-att' in self.args.habits and not self.args.central:
            self.device.request_pairing(connection)
        if 'indicates' in self.args.habits:
            self.spawn(self.indicate(connection))

    def paired(self, given):
        event('paired')
        if given.csrk:
            self.signing_key = given.csrk.value

    def encrypted(self, connection):
        event('encryption', on=int(connection.encryption))
        held, self.held = self.held, []
        for pdu in held:
            self.received(connection, pdu)

    def received(self, connection, pdu):
        if 'holds-att' in self.args.habits and not connection.encryption and pdu.op_code in att.ATT_REQUESTS:
            event('held', opcode=pdu.op_code)
            self.held.append(pdu)
            return
        if pdu.op_code == att.Opcode.ATT_SIGNED_WRITE_COMMAND and 'verifies' in self.args.habits:
            self.verify(pdu)
            return
        if pdu.op_code in att.ATT_REQUESTS:
            self.requests += 1
            if 'changes' in self.args.habits and self.requests == 5:
                self.device.add_services([Service(LATE_SERVICE, [
                    Characteristic(BASE % 0x31, P.READ, R, constant(b'late'))])])
                self.spawn(self.tell_change(connection))
        if 'late' in self.args.habits:
            if pdu.op_code == att.Opcode.ATT_READ_REQUEST and pdu.attribute_handle == self.formatted.handle and not self.was_late:
                self.was_late = True
                self.spawn(self.answer_late(connection, pdu))
            else:
                self.pass_on(connection, pdu)
        elif self.args.delay and pdu.op_code in att.ATT_REQUESTS:
            asyncio.get_running_loop().call_later(self.args.delay, self.pass_on, connection, pdu)
        else:
            self.pass_on(connection, pdu)

    def verify(self, pdu):
        """Bumble's server has no such procedure (0.0.236)."""
        value, counter, mac = pdu.attribute_value[:-12], pdu.attribute_value[-12:-8], pdu.attribute_value[-8:]
        message = struct.pack('<BH', pdu.op_code, pdu.attribute_handle) + value + counter
        number = int.from_bytes(counter, 'little')
        is_right = bool(self.signing_key) and mac == signature(message, self.signing_key)
        is_new = not self.counters or number > self.counters[-1]
        if is_right and is_new and pdu.attribute_handle == self.signed.handle:
            self.counters.append(number)
            self.signed.value = value
        event('verified', value=value.hex(), counter=number, right=is_right, new=is_new)

    async def answer_late(self, connection, pdu):
        start = asyncio.get_running_loop().time()
        await asyncio.sleep(self.args.delay)
        # First: the link may have ended, and then there is nobody to answer.
        event('late', seconds=round(asyncio.get_running_loop().time() - start, 3))
        self.pass_on(connection, pdu)

    async def tell_change(self, connection):
        await self.device.gatt_server.indicate_subscriber(
            connection, self.changed, struct.pack('<HH', 1, 0xFFFF), force=True)
        event('change-confirmed')

    async def indicate(self, connection):
        server = self.device.gatt_server
        for number in range(3):
            await server.notify_subscriber(connection, self.formatted, bytes([number, 0]), force=True)
            await server.indicate_subscriber(connection, self.formatted, bytes([number, 1]), force=True)
            event('confirmed', number=number)


async def be_peripheral(device, args, own):
    data = bytes(AdvertisingData([
        (AdvertisingData.FLAGS, bytes([6])), (AdvertisingData.COMPLETE_LOCAL_NAME, b'BumblePeer')]))

    async def advertise():
        if args.directed:
            await device.start_advertising(
                AdvertisingType.DIRECTED_CONNECTABLE_LOW_DUTY, target=hci.Address(args.directed), own_address_type=own,
                advertising_interval_min=50, advertising_interval_max=50)
            return
        await device.start_advertising(
            AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE, own_address_type=own, advertising_data=data,
            advertising_interval_min=50, advertising_interval_max=50)

    def again(connection):
        connection.on('disconnection', lambda _: habits.spawn(advertise()))
    habits = Habits(device, args)
    device.on('connection', again)
    await device.power_on()
    await advertise()
    event('ready')
    await asyncio.Event().wait()


async def write_signed(connection, characteristic):
    """Signed Write Commands by Bumble's own AES-CMAC, as its client has no such procedure."""
    def signed(value, counter, key=SIGNING_KEY):
        message = struct.pack('<BH', att.Opcode.ATT_SIGNED_WRITE_COMMAND, characteristic.handle) + value
        message += struct.pack('<I', counter)
        return message + signature(message, key)

    async def then(pdu, what):
        connection.device.send_l2cap_pdu(connection.handle, att.ATT_CID, pdu)
        event('signed', what=what, value=bytes(await characteristic.read_value()).hex())
    await then(signed(b'\x01', 1), 'right')
    await then(signed(b'\x02', 1), 'repeated')
    await then(signed(b'\x03', 2, b'\x01' * 16), 'forged')
    await then(signed(b'\x04', 3), 'right again')


async def be_central(device, args, own):
    habits = Habits(device, args)
    await device.power_on()
    event('ready')
    address = await asyncio.wait_for(find(device, own, args.central), 60)
    connection = await device.connect(address, own_address_type=own, timeout=60)
    peer = Peer(connection)
    if args.pair or args.signed:
        await connection.pair()
    if args.signed:
        # A signature is for links without encryption. What is answered has all keys before it: Bumble still sends some.
        await peer.discover_services()
        await ended(connection)
        connection = await device.connect(address, own_address_type=own, timeout=60)
        peer = Peer(connection)
    await peer.discover_services()
    includes = {service.handle: await included(connection.gatt_client, service) for service in peer.services}
    await peer.discover_characteristics()
    for service in peer.services:
        for characteristic in service.characteristics:
            await peer.discover_descriptors(characteristic)
    for service in peer.services if args.signed else ():
        for characteristic in service.characteristics:
            if characteristic.properties & P.AUTHENTICATED_SIGNED_WRITES:
                await write_signed(connection, characteristic)
    event('discovered', services=[{
        'uuid': str(s.uuid), 'includes': includes[s.handle],
        'characteristics': [{'uuid': str(c.uuid), 'descriptors': [str(d.type) for d in c.descriptors]}
                            for c in s.characteristics]} for s in peer.services])
    for service in peer.services:
        for characteristic in service.characteristics:
            if characteristic.properties & P.READ:
                event('value', uuid=str(characteristic.uuid), value=bytes(await characteristic.read_value()).hex())
            for descriptor in characteristic.descriptors:
                if descriptor.type in (UUID('2903'), UUID('2904'), UUID('2905')):
                    event('value', uuid=str(descriptor.type), handle=descriptor.handle,
                          value=bytes(await descriptor.read_value()).hex())
                if descriptor.type == UUID('2903') and args.broadcast:
                    await descriptor.write_value(b'\x01\x00', with_response=True)
                    event('broadcasting')
    while 'indicates' in args.habits and habits.tasks:
        await asyncio.sleep(0.01)
    await ended(connection)
    if args.broadcast:
        event('heard', data=(await listen(device, own)).hex())
    event('done')


async def included(client, service):
    """The UUIDs of the included services. Bumble's own procedure cannot read long ones (0.0.236)."""
    uuids, start = [], service.handle
    while start <= service.end_group_handle:
        answer = await client.send_request(att.ATT_Read_By_Type_Request(
            starting_handle=start, ending_handle=service.end_group_handle, attribute_type=UUID('2802')))
        if answer.op_code == att.Opcode.ATT_ERROR_RESPONSE:
            break
        for handle, value in answer.attributes:
            uuids.append(str(UUID.from_bytes(
                value[4:] or bytes(await client.read_value(struct.unpack_from('<H', value)[0])))))
            start = handle + 1
    return uuids


async def listen(device, own):
    """The first service data that is heard."""
    heard = asyncio.get_running_loop().create_future()

    def advertised(advertisement):
        data = advertisement.data.get(AdvertisingData.SERVICE_DATA_16_BIT_UUID, raw=True)
        if data and not heard.done():
            heard.set_result(bytes(data))
    device.on('advertisement', advertised)
    await device.start_scanning(own_address_type=own)
    return await heard


def distributes(device, ours, is_allowed=True):
    """The signing key of the central, and what else this side distributes or not."""
    factory = device.pairing_config_factory

    def changed(connection):
        config = factory(connection)
        config.delegate.local_initiator_key_distribution |= keys.DISTRIBUTE_SIGNING_KEY
        if is_allowed:
            config.delegate.local_responder_key_distribution |= ours
        else:
            config.delegate.local_responder_key_distribution &= ours
        return config
    device.pairing_config_factory = changed


async def main():
    parser = arguments(__doc__)
    parser.add_argument('habits', nargs='*')
    parser.add_argument('--delay', type=float, default=0, metavar='S', help='answer each request this late')
    parser.add_argument('--directed', metavar='ADDRESS', help='direct the advertising to this random address')
    parser.add_argument('--central', metavar='NAME', help='connect to this peripheral')
    parser.add_argument('--pair', action='store_true', help='as a central: pair before the first request')
    parser.add_argument('--signed', action='store_true', help='as a central: pair with a signing key, come back, write signed')
    parser.add_argument('--broadcast', action='store_true', help='as a central: set the bit of each 2903')
    args = parser.parse_args()
    transport, device, own = await open_device(
        args, 'BumblePeer', 'F0:F1:F2:00:00:01' if args.central else 'F2:F1:F0:00:00:02')
    if args.signed:
        distributes(device, keys.DISTRIBUTE_SIGNING_KEY)
        send = smp.Session.send_command

        def send_signing_key(session, command):
            # Bumble distributes a key of zeros (0.0.236), which is none.
            is_key = isinstance(command, smp.SMP_Signing_Information_Command)
            send(session, smp.SMP_Signing_Information_Command(signature_key=SIGNING_KEY) if is_key else command)
        smp.Session.send_command = send_signing_key
    if 'verifies' in args.habits:
        distributes(device, ~keys.DISTRIBUTE_ENCRYPTION_KEY, is_allowed=False)
    await (be_central if args.central else be_peripheral)(device, args, own)
    await transport.close()


asyncio.run(main())
