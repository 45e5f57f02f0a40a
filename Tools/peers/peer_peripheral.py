#!/usr/bin/env python3
"""Bumble as a peripheral peer: advertises, serves a GATT database, pairs, echoes on an LE CoC.

  peer_peripheral.py unix:/tmp/x/hci1 [--name BumblePeer] [--io display --mitm --passkey 123456]

One JSON object a line on stdout: `{"ev": "database"}` says what it serves, with handles (a test compares
a discovery with it), then `{"ev": "ready"}` once it advertises.  Stops on SIGTERM/SIGINT.

Control characteristic (write with response), first byte:
  01 u32le total u16le size   notify `total` bytes on STREAM, `size` a notification
  02 bytes...                 indicate these bytes on INDICATE
  03                          disconnect (reason 0x13)
  04                          zero the counters
  05 u16le interval           ask for this connection interval (1.25 ms units)
  06                          send an SMP Security Request
  07 bytes...                 change LONG_R's value to these bytes (empty: back to the first one)
  08 u8 4*u16le               ask for shortest and longest interval, latency and timeout in the specification's units, over
                              L2CAP (0) or through the link layer (1); the write is answered when the central has answered
COUNTERS reads as: u32le write-command bytes, u32le write commands, u32le last write size.
"""
import asyncio, signal, struct, time

from bumble import core, hci, l2cap
from bumble.att import ATT_Error, Attribute
from bumble.core import AdvertisingData, UUID
from bumble.device import AdvertisingType
from bumble.gatt import (Characteristic, CharacteristicValue, Descriptor, Service,
                         GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR)

from peer_common import *

P = Characteristic.Properties
R, W = Attribute.READABLE, Attribute.WRITEABLE


def short(uuid):
    """As an operator writes it: 180D, or upper case with dashes."""
    text = uuid.to_hex_str(separator='-').upper()
    return text[4:8] if text.startswith('0000') and text.endswith('-0000-1000-8000-00805F9B34FB') else text


def database(server):
    """Every service, characteristic and descriptor that a client can find, read off the attribute table."""
    def descriptors(c):
        return [{'uuid': short(a.type), 'handle': a.handle} for a in server.attributes
                if c.handle < a.handle <= c.end_group_handle]
    return [{
        'uuid': short(s.uuid), 'handle': s.handle, 'endHandle': s.end_group_handle, 'primary': s.primary,
        'includes': [short(i.uuid) for i in s.included_services],
        'characteristics': [{
            'uuid': short(c.uuid), 'handle': c.handle - 1, 'valueHandle': c.handle, 'properties': int(c.properties),
            'descriptors': descriptors(c)} for c in s.characteristics]} for s in server.services]


async def main():
    ap = arguments(__doc__)
    ap.add_argument('--name', default='BumblePeer')
    ap.add_argument('--psm', type=lambda v: int(v, 0), default=0x80)
    ap.add_argument('--coc-mtu', type=int, default=2046)
    ap.add_argument('--coc-mps', type=int, default=2046)
    ap.add_argument('--coc-credits', type=int, default=64)
    ap.add_argument('--coc-reconfigure', type=int, metavar='MTU',
                    help='reconfigure each enhanced channel to this MTU when it opens, and let the central reconfigure them')
    ap.add_argument('--long-size', type=int, default=600, help='size of the readable long value')
    ap.add_argument('--service-data', metavar='UUID:HEX', help='16-bit service data to advertise, as a sensor does')
    ap.add_argument('--adv-interval', type=float, default=100, help='ms')
    ap.add_argument('--hr-interval', type=float, default=0.2, help='s between heart rate notifications')
    ap.add_argument('--security-request', action='store_true', help='send a Security Request on connection')
    ap.add_argument('--once', action='store_true', help='exit after the first disconnection')
    args = ap.parse_args()

    transport, device, own = await open_device(args, args.name, 'F2:F1:F0:00:00:02')
    stop = asyncio.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(s, stop.set)
    long_value = bytes(i % 251 for i in range(args.long_size))
    st = {'wb': 0, 'wn': 0, 'last': 0, 't0': 0.0, 't1': 0.0, 'long_w': b'', 'enc': b'secret', 'auth': b'very secret', 'hrcp': 0, 'long_r': long_value}
    conns = set()
    mitm = set()
    tasks = set()

    def spawn(coro):
        t = asyncio.ensure_future(coro)
        tasks.add(t)
        t.add_done_callback(tasks.discard)

    # Bumble checks neither READABLE nor WRITEABLE, and a value without a read (write) function makes
    # it answer nothing at all, so every value here has both and the missing one refuses.
    def cv(read=None, write=None):
        def no(code):
            def f(*a):
                raise ATT_Error(code)
            return f
        return CharacteristicValue(read=read or no(0x02), write=write or no(0x03))

    def const(v):
        return cv(read=lambda c: v)

    def val(key, name, report=True):
        def write(c, v):
            st[key] = bytes(v)
            event('write', char=name, size=len(v), value=bytes(v[:32]).hex())
        return cv(read=lambda c: st[key], write=write)

    # Bumble's *_REQUIRES_AUTHENTICATION is satisfied by any Secure Connections link, Just Works
    # included, so the AUTH characteristic checks that the link's own key came from MITM pairing.
    async def check_mitm(c):
        ok = c in mitm
        if not ok and c.encryption and device.keystore:
            k = await device.keystore.get(str(c.peer_address))
            key = k and (k.ltk or k.ltk_peripheral)
            ok = bool(key and key.authenticated)
        if not (c.encryption and ok):
            raise ATT_Error(0x05)

    async def auth_read(c):
        await check_mitm(c)
        return st['auth']

    async def auth_write(c, v):
        await check_mitm(c)
        st['auth'] = bytes(v)
        event('write', char='AUTH', size=len(v), value=bytes(v[:32]).hex())

    def wwr(c, v):
        st['wb'] += len(v); st['wn'] += 1; st['last'] = len(v); st['t1'] = time.perf_counter()

    async def control(c, v):
        v = bytes(v)
        event('control', value=v[:32].hex())
        op = v[:1]
        if op == b'\1':
            total, size = struct.unpack('<IH', v[1:7])
            async def stream():
                sent = n = 0
                while sent < total:
                    k = min(size, total - sent)
                    await device.notify_subscriber(c, stream_char, struct.pack('<I', n)[:k] + bytes(max(0, k - 4)))
                    sent += k; n += 1
                    # Notifications have no response: wait for the ACL queue, not for the peer.
                    if n % 16 == 0:
                        await c.drain()
            spawn(stream())
        elif op == b'\2':
            async def ind():
                t = time.perf_counter()
                await device.indicate_subscriber(c, ind_char, v[1:])
                event('indication-confirmed', ms=round((time.perf_counter() - t) * 1e3, 2))
            spawn(ind())
        elif op == b'\3':
            spawn(c.disconnect())
        elif op == b'\4':
            st.update(wb=0, wn=0, last=0)
        elif op == b'\5':
            i = struct.unpack('<H', v[1:3])[0] * 1.25
            spawn(c.update_parameters(i, i, 0, 4000, use_l2cap=True))
        elif op == b'\6':
            device.request_pairing(c)
        elif op == b'\x08':
            shortest, longest, latency, timeout = struct.unpack('<4H', v[2:10])
            try:
                await c.update_parameters(shortest * 1.25, longest * 1.25, latency, timeout * 10, use_l2cap=v[1] == 0)
                event('parameters-asked', accepted=True)
            except (core.BaseError, hci.HCI_Error) as e:
                event('parameters-asked', accepted=False, error=str(e))
        elif op == b'\7':
            st['long_r'] = v[1:] or long_value
        else:
            raise ATT_Error(0x80)

    def hrcp(c, v):
        if bytes(v) != b'\1':
            raise ATT_Error(0x80)          # Control Point value not supported
        st['hrcp'] += 1
        event('write', char='2A39', size=len(v), value=bytes(v).hex())

    hr = Characteristic('2A37', P.NOTIFY, 0, cv())
    hr_loc = Characteristic('2A38', P.READ, R, const(b'\1'))
    hr_cp = Characteristic('2A39', P.WRITE, W, cv(write=hrcp))
    batt = Characteristic('2A19', P.READ | P.NOTIFY, R, const(b'\x57'))
    stream_char = Characteristic(STREAM, P.NOTIFY, 0, cv())
    ind_char = Characteristic(INDICATE, P.INDICATE | P.READ, R, const(b'indicate me'),
                              [Descriptor(GATT_CHARACTERISTIC_USER_DESCRIPTION_DESCRIPTOR, R, const(b'an indication'))])
    battery = Service('180F', [batt])
    device.add_services([
        Service('180D', [hr, hr_loc, hr_cp]),
        battery,
        Service(SVC, [
            Characteristic(LONG_R, P.READ, R, cv(read=lambda c: st['long_r'])),
            Characteristic(LONG_W, P.READ | P.WRITE, R | W, val('long_w', 'LONG_W')),
            Characteristic(WWR, P.WRITE_WITHOUT_RESPONSE, W, cv(write=wwr)),
            ind_char,
            Characteristic(ENC, P.READ | P.WRITE,
                           R | W | Attribute.READ_REQUIRES_ENCRYPTION | Attribute.WRITE_REQUIRES_ENCRYPTION, val('enc', 'ENC')),
            Characteristic(AUTH, P.READ | P.WRITE,
                           R | W, cv(read=auth_read, write=auth_write)),
            Characteristic(CONTROL, P.WRITE, W, cv(write=control)),
            stream_char,
            Characteristic(COUNTERS, P.READ, R, cv(
                read=lambda c: struct.pack('<III', st['wb'], st['wn'], st['last']))),
        ], included_services=[battery]),
    ])

    def on_channel(ch):
        event('coc-open', psm=args.psm, mtu=ch.peer_mtu, mps=ch.peer_mps, credits=ch.credits)
        ch.sink = lambda sdu: ch.write(sdu)
        ch.on('close', lambda: event('coc-close'))
        if args.coc_reconfigure:
            # Bumble calls this before it has sent its response.
            asyncio.get_running_loop().call_soon(grow, ch)

    # Bumble has the packets of reconfigurations, and nothing that sends or answers them.
    manager = device.l2cap_channel_manager

    def grow(ch):
        ch.mtu = args.coc_reconfigure
        ch.send_control_frame(l2cap.L2CAP_Credit_Based_Reconfigure_Request(
            identifier=manager.next_identifier(ch.connection), mtu=ch.mtu, mps=ch.mps, destination_cid=[ch.source_cid]))

    def reconfigure(c, cid, request):
        for ch in manager.le_coc_channels[c.handle].values():
            if ch.destination_cid in request.destination_cid:
                ch.peer_mtu, ch.peer_mps = request.mtu, request.mps
        event('coc-reconfigure', mtu=request.mtu, mps=request.mps, channels=len(request.destination_cid))
        manager.send_control_frame(c, cid, l2cap.L2CAP_Credit_Based_Reconfigure_Response(identifier=request.identifier, result=0))
    if args.coc_reconfigure:
        manager.on_l2cap_credit_based_reconfigure_request = reconfigure
        manager.on_l2cap_credit_based_reconfigure_response = lambda c, cid, r: event('coc-reconfigured', result=int(r.result))
    device.create_l2cap_server(l2cap.LeCreditBasedChannelSpec(
        psm=args.psm, mtu=args.coc_mtu, mps=args.coc_mps, max_credits=args.coc_credits), handler=on_channel)

    adv = bytes(AdvertisingData([
        (AdvertisingData.FLAGS, bytes([6])),
        (AdvertisingData.COMPLETE_LOCAL_NAME, args.name.encode()),
        (AdvertisingData.INCOMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes.fromhex('0d180f18'))]))
    if args.service_data:
        uuid, _, data = args.service_data.partition(':')
        data = int(uuid, 16).to_bytes(2, 'little') + bytes.fromhex(data)
        adv += bytes(AdvertisingData([(AdvertisingData.SERVICE_DATA_16_BIT_UUID, data)]))
    scan_rsp = bytes(AdvertisingData([
        (AdvertisingData.INCOMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(UUID(SVC)))]))

    async def advertise():
        await device.start_advertising(
            AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE, own_address_type=own,
            advertising_data=adv, scan_response_data=scan_rsp,
            advertising_interval_min=args.adv_interval, advertising_interval_max=args.adv_interval)

    @device.on('connection')
    def on_connection(c):
        conns.add(c)
        event('connected', peer=str(c.peer_address), role=int(c.role), interval=c.parameters.connection_interval)
        c.on('connection_att_mtu_update', lambda: event('mtu', mtu=c.att_mtu))
        c.on('pairing_start', lambda: event('pairing-start'))
        c.on('pairing', lambda keys: (keys.ltk or keys.ltk_peripheral) and (keys.ltk or keys.ltk_peripheral).authenticated and mitm.add(c))
        c.on('pairing', lambda keys: event('paired', keys=keys_dict(keys), sc=c.sc, authenticated=c.authenticated, encryption=int(c.encryption)))
        c.on('pairing_failure', lambda r: event('pairing-failed', reason=int(r)))
        c.on('connection_encryption_change', lambda: event('encryption', on=int(c.encryption), authenticated=c.authenticated, sc=c.sc))
        c.on('connection_parameters_update', lambda *a: event('parameters', interval=c.parameters.connection_interval))
        if args.security_request:
            device.request_pairing(c)

        async def beat():
            n = 0
            while c in conns:
                await device.notify_subscriber(c, hr, bytes([0, 60 + n % 60]))
                n += 1
                await asyncio.sleep(args.hr_interval)
        spawn(beat())

        @c.on('disconnection')
        def _(reason):
            conns.discard(c)
            mitm.discard(c)
            event('disconnected', reason=reason)
            if args.once:
                stop.set()
            else:
                spawn(advertise())

    await device.power_on()
    event('database', services=database(device.gatt_server))
    await advertise()
    event('ready', name=args.name, public=str(device.public_address), random=str(device.random_address), psm=args.psm)
    lost = asyncio.ensure_future(transport.source.terminated)
    await asyncio.wait([asyncio.ensure_future(stop.wait()), lost], return_when=asyncio.FIRST_COMPLETED)
    conns.clear()
    event('stopped', transport_lost=lost.done())
    await transport.close()

asyncio.run(main())
