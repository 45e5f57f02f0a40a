"""smpclient of PyPI, unmodified, which stands on bleak: it manages and updates a device that the simulator plays, through BlueZ's door."""
import asyncio, hashlib, json, pathlib, struct

import pytest

ADDRESS = 'C0:00:00:00:0A:01'
pytestmark = pytest.mark.desk(kinds=['bumble'], start=False, peer=False)


def mcuboot(version, body):
    image = struct.pack('<IIHHIIBBHII', 0x96f3b83d, 0, 32, 0, len(body), 0, *version, 0, 0) + body
    return image + struct.pack('<HHHH', 0x6907, 40, 0x10, 32) + hashlib.sha256(image).digest()


def test_smpclient_updates(desk):
    """smpclient sends an image, tests it, restarts the device, and confirms it; echo, settings, files and the shell work"""
    path = pathlib.Path(desk.path('air.json'))
    path.write_text(json.dumps({'devices': [{
        'kind': 'mcumgr', 'name': 'Board', 'address': ADDRESS + '/random', 'flash': {'slot': 32768}}]}))
    desk.endpoint = f'sim:{path}'
    desk.start()

    async def work():
        from smpclient import SMPClient
        from smpclient.generics import success
        from smpclient.requests.file_management import FileStatus
        from smpclient.requests.image_management import ImageStatesRead, ImageStatesWrite
        from smpclient.requests.os_management import EchoWrite, ResetWrite
        from smpclient.requests.settings_management import ReadSetting
        from smpclient.requests.shell_management import Execute
        from smpclient.transport.ble import SMPBLETransport
        image = mcuboot((2, 0, 0), bytes(i * 31 % 251 for i in range(9000)))

        async def ask(client, request):
            answer = await client.request(request)
            assert success(answer), answer
            return answer
        client = SMPClient(SMPBLETransport(), ADDRESS, 20)
        await client.connect(30)
        assert (await ask(client, EchoWrite(d='hello'))).r == 'hello'
        assert bytes((await ask(client, ReadSetting(name='board/name'))).val) == b'simulated'
        assert (await ask(client, FileStatus(name='/lfs/hello.txt'))).len == 6
        assert (await ask(client, Execute(argv=['version']))).o == '1.0.0\n'
        offsets = [offset async for offset in client.upload(image)]
        assert offsets[-1] == len(image)
        await client.upload_file(bytes(300), '/lfs/new').__anext__()
        states = (await ask(client, ImageStatesRead())).images
        assert [(s.slot, s.version, s.active) for s in states] == [(0, '1.0.0', True), (1, '2.0.0', False)]
        await ask(client, ImageStatesWrite(hash=states[1].hash))
        await ask(client, ResetWrite())
        await asyncio.sleep(8)
        await client.disconnect()
        again = SMPClient(SMPBLETransport(), ADDRESS, 20)
        await again.connect(30)
        states = (await ask(again, ImageStatesRead())).images
        assert [(s.version, s.active, s.confirmed) for s in states][0] == ('2.0.0', True, False)
        states = (await ask(again, ImageStatesWrite(confirm=True))).images
        assert states[0].confirmed
        await again.disconnect()
    desk.go(work(), 150)
