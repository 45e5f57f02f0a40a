#!/usr/bin/env python3
"""A Bumble peripheral that mcumgr's SMP manages; the package `smp` of PyPI reads its requests and writes its answers.

  peer_smp.py TRANSPORT [--drop N]     advertise as BumblePeer

It takes an image into its second slot, and runs what is pending after a reset, for which it disconnects. With --drop it ignores each
Nth request of an upload. Prints one JSON object per line: `request` with the name of the message, `wrong` for what the package refuses
or would write in another way."""
import asyncio, hashlib

import cbor2, smp.error, smp.file_management as files, smp.header as header, smp.image_management as images, smp.os_management as system
import smp.settings_management as settings, smp.shell_management as shell
from bumble.att import Attribute
from bumble.core import AdvertisingData
from bumble.device import AdvertisingType
from bumble.gatt import Characteristic, CharacteristicValue, Service

from peer_common import arguments, event, open_device

SERVICE, CHARACTERISTIC = '8D53DC1D-1DB7-4CD3-868B-8A527460AA84', 'DA2E7828-FBCE-4E01-AE9E-261174997C48'
REQUESTS = {(c._OP, c._GROUP_ID, c._COMMAND_ID): c for c in (
    system.EchoWriteRequest, system.ResetWriteRequest, system.MCUMgrParametersReadRequest, images.ImageStatesReadRequest,
    images.ImageStatesWriteRequest, images.ImageUploadWriteRequest, images.ImageEraseRequest, files.FileDownloadRequest,
    files.FileUploadRequest, files.FileStatusRequest, settings.ReadSettingRequest, settings.WriteSettingRequest,
    settings.CommitSettingsRequest, shell.ExecuteRequest)}


def trailer_hash(image):
    end = int.from_bytes(image[8:10], 'little') + int.from_bytes(image[12:16], 'little') + int.from_bytes(image[10:12], 'little')
    return image[end + 8:end + 40] if len(image) >= end + 40 else bytes(32)


class Board:
    def __init__(self, device, drop):
        self.device, self.drop, self.count = device, drop, 0
        self.slots, self.pending, self.confirmed = [None, None], False, True
        self.length, self.sha, self.frame = 0, b'', b''
        self.files, self.settings = {'/a': b'from Bumble'}, {'name': b'Bumble'}
        self.value = Characteristic(CHARACTERISTIC, Characteristic.Properties.WRITE_WITHOUT_RESPONSE | Characteristic.Properties.NOTIFY,
                                    Attribute.WRITEABLE, CharacteristicValue(write=self.written))
        device.add_service(Service(SERVICE, [self.value]))

    def written(self, connection, piece):
        self.frame += bytes(piece)
        if len(self.frame) < 8 or len(self.frame) < 8 + int.from_bytes(self.frame[2:4], 'big'):
            return
        frame, self.frame = self.frame, b''
        head = header.Header.loads(frame[:8])
        kind = REQUESTS.get((head.op, head.group_id, head.command_id))
        if not kind:
            self.send(connection, smp.error.ErrorV1, head, dict(rc=smp.error.MGMT_ERR.ENOTSUP))
            return
        try:
            request = kind.loads(frame)
            fields = {name: getattr(request, name) for name in request.model_fields_set - {'header', 'smp_data', 'version', 'sequence'}}
            again = kind(sequence=head.sequence, **fields)
            if again.BYTES != frame:
                event('wrong', request=kind.__name__, is_=frame.hex(), would=again.BYTES.hex())
        except Exception as error:
            return event('wrong', request=kind.__name__, error=str(error))
        if kind is images.ImageUploadWriteRequest:
            self.count += 1
            if self.drop and self.count % self.drop == 0:
                return event('dropped', off=request.off)
        event('request', name=kind.__name__)
        answer, fields = getattr(self, kind.__name__)(request)
        self.send(connection, answer, head, fields)
        if kind is system.ResetWriteRequest:
            asyncio.get_running_loop().call_later(0.2, self.restart, connection)

    def send(self, connection, kind, head, fields):
        fields = {name: value for name, value in fields.items() if value is not None}
        # The package writes the content. An error has no group there, and one response the number of another.
        content = cbor2.dumps(fields, canonical=True) if kind is smp.error.ErrorV1 else kind(sequence=head.sequence, **fields).BYTES[8:]
        answer = header.Header(header.OP(head.op + 1), head.version, header.Flag(0), len(content), head.group_id, head.sequence, head.command_id)
        octets = bytes(answer) + content
        limit = connection.att_mtu - 3
        async def notify():
            for start in range(0, len(octets), limit):
                await self.device.notify_subscriber(connection, self.value, octets[start:start + limit])
        self.queue = asyncio.ensure_future(self.after(getattr(self, 'queue', None), notify))

    @staticmethod
    async def after(earlier, work):
        if earlier:
            await earlier
        await work()

    def restart(self, connection):
        if self.pending and self.slots[1]:
            self.slots.reverse()
            self.pending, self.confirmed = False, False
        elif not self.confirmed:
            self.slots.reverse()
            self.confirmed = True
        asyncio.ensure_future(connection.disconnect())

    def states(self):
        states = []
        for slot, image in enumerate(self.slots):
            if image and len(image) > 72:
                states.append(images.ImageState(
                    slot=slot, version=f'{image[20]}.{image[21]}.0', hash=images.HashBytes(trailer_hash(image)), bootable=True,
                    pending=bool(slot and self.pending), confirmed=not slot and self.confirmed, active=not slot, permanent=False))
        return dict(images=states)

    # The answers

    def EchoWriteRequest(self, request): return system.EchoWriteResponse, dict(r=request.d)
    def ResetWriteRequest(self, request): return system.ResetWriteResponse, {}
    def MCUMgrParametersReadRequest(self, request): return system.MCUMgrParametersReadResponse, dict(buf_size=400, buf_count=4)
    def ImageStatesReadRequest(self, request): return images.ImageStatesReadResponse, self.states()
    def ImageEraseRequest(self, request):
        self.slots[1] = None
        return images.ImageEraseResponse, {}

    def ImageStatesWriteRequest(self, request):
        if request.confirm and not request.hash:
            self.confirmed = True
        elif self.slots[1] and bytes(request.hash) == trailer_hash(self.slots[1]):
            self.pending = True
        return images.ImageStatesWriteResponse, self.states()

    def ImageUploadWriteRequest(self, request):
        if request.off == 0 and request.sha != self.sha:
            self.length, self.sha, self.slots[1] = request.len, request.sha, b''
        have = self.slots[1] or b''
        if request.off == len(have) and len(have) < self.length:
            self.slots[1] = have = have + request.data
        match = hashlib.sha256(have).digest() == self.sha if len(have) == self.length else None
        return images.ImageUploadWriteResponse, dict(off=len(have), match=match)

    def FileStatusRequest(self, request): return files.FileStatusResponse, dict(len=len(self.files[request.name]))
    def FileUploadRequest(self, request):
        have = b'' if request.off == 0 else self.files[request.name]
        self.files[request.name] = have + request.data
        return files.FileUploadResponse, dict(off=len(self.files[request.name]))

    def FileDownloadRequest(self, request):
        octets = self.files[request.name]
        return files.FileDownloadResponse, dict(off=request.off, data=octets[request.off:request.off + 100], len=None if request.off else len(octets))

    def ReadSettingRequest(self, request): return settings.ReadSettingResponse, dict(val=self.settings[request.name])
    def WriteSettingRequest(self, request):
        self.settings[request.name] = request.val
        return settings.WriteSettingResponse, {}

    def CommitSettingsRequest(self, request): return settings.CommitSettingsResponse, {}
    def ExecuteRequest(self, request): return shell.ExecuteResponse, dict(o=' '.join(request.argv) + '\n', ret=0)


async def main():
    parser = arguments(__doc__)
    parser.add_argument('--drop', type=int, default=0)
    args = parser.parse_args()
    transport, device, own = await open_device(args, 'BumblePeer', 'F2:F1:F0:00:00:02')
    Board(device, args.drop)
    data = bytes(AdvertisingData([(AdvertisingData.FLAGS, bytes([6])), (AdvertisingData.COMPLETE_LOCAL_NAME, b'BumblePeer')]))

    async def advertise():
        await device.start_advertising(AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE, own_address_type=own, advertising_data=data,
                                       advertising_interval_min=50, advertising_interval_max=50)

    def connected(connection):
        event('connected')
        connection.on('disconnection', lambda reason: (event('disconnected', reason=int(reason)), asyncio.ensure_future(advertise())))
    device.on('connection', connected)
    await device.power_on()
    await advertise()
    event('ready')
    await transport.source.terminated

asyncio.run(main())
