"""Firmware update: `dfu` and `smp` with a peripheral of Bumble's that uses the package `smp` of PyPI, and with simulated devices."""
import hashlib, io, json, os, pathlib, re, resource, struct, subprocess, zipfile

from pytest import fixture, mark

from jelling.child import PATIENCE
from jelling.programs import BLETOOL, PYTHON
from jelling.screen import Program

ADDRESS = 'C0:00:00:00:0A:01/random'
KINDS = ('bumble', 'btvirt')


def mcuboot(version, body):
    """An image as imgtool makes it, with its hash."""
    image = struct.pack('<IIHHIIBBHII', 0x96f3b83d, 0, 32, 0, len(body), 0, *version, 0, 0) + body
    return image + struct.pack('<HHHH', 0x6907, 40, 0x10, 32) + hashlib.sha256(image).digest()


IMAGE = mcuboot((2, 0, 0), bytes(i * 31 % 251 for i in range(9000)))


@fixture
def image(tmp_path):
    path = tmp_path / 'app.signed.bin'
    path.write_bytes(IMAGE)
    return str(path)


@fixture
def board(tmp_path):
    """Runs the tool on an air with one device of this kind."""
    def run(kind, *arguments, status=0, **device):
        path = tmp_path / 'air.json'
        path.write_text(json.dumps({'devices': [{'kind': kind, 'name': 'Board', 'address': ADDRESS, **device}]}))
        done = subprocess.run([BLETOOL, '--state', str(tmp_path / 'state'), '-t', f'sim:{path}', '--json', *arguments], capture_output=True, text=True,
                              timeout=2 * PATIENCE)
        assert done.returncode == status, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]
    return run


def events(lines, name):
    return [line for line in lines if line['event'] == name]


# A foreign target

@mark.lab(KINDS, peer=False)
def test_smp_on_bumble(lab, image, tmp_path):
    """Each verb of `smp` works on a device that the package `smp` plays, and each request is as that package writes it"""
    peer = lab.bumble('peer_smp', lab.peer_endpoint)
    def smp(*words): return lab.run('smp', 'BumblePeer', *words)
    assert smp('echo', 'hello', 'there').events('echo')[0]['text'] == 'hello there'
    assert smp('image', 'list').events('images')[0]['images'] == []
    done = smp('image', 'upload', image).events('transferred')[0]
    assert done['bytes'] == len(IMAGE) and done['resumedFrom'] == 0
    listed = smp('image', 'list').events('images')[0]['images']
    assert [(i['slot'], i['version'], i['hash'], i['pending']) for i in listed] == [(1, '2.0.0', done['hash'], False)]
    assert smp('image', 'test', done['hash']).events('images')[0]['images'][0]['pending']
    assert smp('os', 'buffers').events('managed')[0]['answer'] == {'buf_size': 400, 'buf_count': 4}
    assert smp('settings', 'read', 'name').events('setting')[0]['value'] == b'Bumble'.hex()
    smp('settings', 'write', 'name', '0102')
    smp('settings', 'commit')
    assert smp('settings', 'read', 'name').events('setting')[0]['value'] == '0102'
    smp('fs', 'upload', image, '/b')
    smp('fs', 'download', '/b', str(tmp_path / 'back'))
    assert (tmp_path / 'back').read_bytes() == IMAGE
    assert smp('fs', 'stat', '/a').events('file')[0]['bytes'] == 11
    assert smp('shell', 'kernel', 'version').events('shell')[0]['output'] == 'kernel version\n'
    refused = lab.run('smp', 'BumblePeer', 'os', 'stat', status=1).events('error')[0]
    assert refused['code'] == 'updateRefused' and 'not supported' in refused['message']
    assert not [l for l in peer.lines if l.get('ev') == 'wrong'], [l for l in peer.lines if l.get('ev') == 'wrong'][:3]


@mark.lab(KINDS, peer=False)
def test_dfu_on_bumble(lab, image):
    """`dfu` uploads, tests, restarts and confirms an image on a device that loses requests and that the package `smp` plays"""
    peer = lab.bumble('peer_smp', lab.peer_endpoint, '--drop', '9')
    done = lab.run('dfu', 'BumblePeer', image, timeout=4 * PATIENCE)
    updated = done.events('firmwareUpdated')[0]
    assert updated['protocol'] == 'mcumgr' and updated['bytes'] == len(IMAGE) and not updated['wasCurrent']
    assert [p['phase'] for p in done.events('updatePhase')][-1] == 'confirming'
    assert [l for l in peer.lines if l.get('ev') == 'dropped'] and not [l for l in peer.lines if l.get('ev') == 'wrong']
    again = lab.run('dfu', 'BumblePeer', image).events('firmwareUpdated')[0]
    assert again['wasCurrent'] and again['bytes'] == 0


# The simulator's targets

def test_packets_are_those_of_the_package(board, image, tmp_path):
    """What crosses the link to a simulated device, in both directions, is what the package `smp` reads, and writes in the same octets"""
    capture = tmp_path / 'air.btsnoop'
    # In one session: each command ends the simulated device.
    board('mcumgr', '-w', str(capture), 'dfu', ADDRESS, image)
    checked = subprocess.run([PYTHON, '-c', CHECK, str(capture)], capture_output=True, text=True, timeout=PATIENCE)
    assert checked.returncode == 0, checked.stderr[-2000:]
    counts = json.loads(checked.stdout)
    assert counts['requests'] > 20 and counts['responses'] > 20 and counts['names'] >= 5, counts


CHECK = r'''
import json, struct, sys
import smp.header as header, smp.image_management as images, smp.os_management as system
KINDS = {(c._OP, c._GROUP_ID, c._COMMAND_ID): c for c in (
    system.ResetWriteRequest, system.ResetWriteResponse, system.MCUMgrParametersReadRequest, system.MCUMgrParametersReadResponse,
    images.ImageStatesReadRequest, images.ImageStatesReadResponse, images.ImageStatesWriteRequest, images.ImageStatesWriteResponse,
    images.ImageUploadWriteRequest, images.ImageUploadWriteResponse)}
# The package gives this one the number of a read.
KINDS[header.OP.WRITE_RSP, header.GroupId.IMAGE_MANAGEMENT, 0] = images.ImageStatesWriteResponse
data, place, frames, streams = open(sys.argv[1], 'rb').read(), 16, [], {}
acl = {}
while place + 24 <= len(data):
    length, flags = struct.unpack('>I', data[place + 4:place + 8])[0], struct.unpack('>I', data[place + 8:place + 12])[0]
    packet, place = data[place + 24:place + 24 + length], place + 24 + length
    if packet[0] != 2: continue
    way, start = flags & 1, packet[2] >> 4 & 3 != 1
    acl[way] = (b'' if start else acl.get(way, b'')) + packet[5:]
    whole = acl[way]
    if len(whole) < 4 or len(whole) < 4 + whole[0] + whole[1] * 256: continue
    if whole[2:4] == b'\x04\x00' and whole[4] == (0x1b if way else 0x52):
        streams[way] = streams.get(way, b'') + whole[7:]
        frame = streams[way]
        if len(frame) >= 8 and len(frame) >= 8 + int.from_bytes(frame[2:4], 'big'):
            frames.append((way, frame)); streams[way] = b''
names, counts = set(), [0, 0]
for way, frame in frames:
    head = header.Header.loads(frame[:8])
    kind = KINDS[head.op, head.group_id, head.command_id]
    message = kind.loads(frame)
    fields = {n: getattr(message, n) for n in message.model_fields_set - {'header', 'smp_data', 'version', 'sequence'}}
    again = kind(sequence=head.sequence, **fields)
    assert again.BYTES[8:] == frame[8:] and (again.BYTES == frame or kind is images.ImageStatesWriteResponse), (kind.__name__, frame.hex(), again.BYTES.hex())
    names.add(kind.__name__); counts[way] += 1
print(json.dumps({'requests': counts[0], 'responses': counts[1], 'names': len(names)}))
'''


def nordic(tmp_path, image, **options):
    """A package that nrfutil's fork for legacy DFU makes, or one of secure DFU by hand, as its own tool needs an old Python."""
    if 'legacy' in options:
        (tmp_path / 'app.bin').write_bytes(image)
        made = subprocess.run([PYTHON, '-m', 'nordicsemi', 'dfu', 'genpkg', '--dev-type', '0x0052', '--application-version', '2', '--application',
                               str(tmp_path / 'app.bin'), str(tmp_path / 'app.zip')], capture_output=True, text=True, timeout=PATIENCE)
        assert made.returncode == 0, made.stderr
        return str(tmp_path / 'app.zip')
    def varint(n): return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    def field(key, value):
        return varint(key << 3) + varint(value) if isinstance(value, int) else varint(key << 3 | 2) + varint(len(value)) + value
    digest = hashlib.sha256(image).digest()[::-1]
    init = field(1, options.get('version', 2)) + field(2, 52) + field(3, varint(0x100)) + field(4, 0) + field(5, 0) + field(6, 0) + \
        field(7, len(image)) + field(8, field(1, 3) + field(2, digest)) + field(9, 0)
    packet = field(2, field(1, field(1, 1) + field(2, init)) + field(2, 0) + field(3, bytes(64)))
    path = tmp_path / 'app.zip'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as package:
        package.writestr('app.bin', image)
        package.writestr('app.dat', packet)
        package.writestr('manifest.json', json.dumps({'manifest': {'application': {'bin_file': 'app.bin', 'dat_file': 'app.dat'}}}))
    return str(path)


@mark.parametrize('kind', ['nordic-dfu', 'nordic-bonded-dfu'])
def test_secure_dfu(board, tmp_path, kind):
    """Secure DFU goes through the application and its bootloader, and goes on after a lost link"""
    image = bytes(i * 7 % 256 for i in range(20000))
    lines = board(kind, 'dfu', ADDRESS, nordic(tmp_path, image), linkLosses=[9000])
    updated = events(lines, 'firmwareUpdated')[0]
    assert updated['protocol'] == 'secure-dfu' and updated['reconnections'] >= 2 and updated['bytes'] < 21000
    assert 'startingBootloader' in [line['phase'] for line in events(lines, 'updatePhase')]


def test_secure_dfu_refused(board, tmp_path):
    """An older version is refused in words, before anything of the image is sent"""
    lines = board('nordic-dfu', 'dfu', ADDRESS, nordic(tmp_path, bytes(5000), version=0), status=1)
    error = events(lines, 'error')[0]
    assert error['code'] == 'updateRefused' and 'newer version' in error['message']


def test_legacy_dfu(board, tmp_path):
    """A package that adafruit-nrfutil makes goes to a legacy bootloader"""
    image = bytes(i * 7 % 256 for i in range(4000))
    lines = board('nordic-legacy-dfu', 'dfu', ADDRESS, nordic(tmp_path, image, legacy=True))
    assert events(lines, 'firmware')[0]['kind'] == 'legacy-dfu'
    assert events(lines, 'firmwareUpdated')[0]['bytes'] == 4000


def test_power_loss_in_the_middle(board, image):
    """A device that loses its power in the middle of an upload, and in the middle of its swap, is updated in one run"""
    lines = board('mcumgr', 'dfu', ADDRESS, image, powerLosses=[9, 60], flash={'slot': 32768})
    updated = events(lines, 'firmwareUpdated')[0]
    assert updated['reconnections'] >= 2 and not updated['wasCurrent']


def test_files_are_checked_first(board, tmp_path, image):
    """A damaged file, a wrong one and one for another kind of device are refused before the device is touched"""
    damaged = bytearray(IMAGE)
    damaged[100] ^= 1
    (tmp_path / 'damaged.bin').write_bytes(damaged)
    error = events(board('mcumgr', 'dfu', ADDRESS, str(tmp_path / 'damaged.bin'), status=2), 'error')[0]
    assert error['code'] == 'usage' and 'hash' in error['message']
    lines = board('nordic-dfu', 'dfu', ADDRESS, image, status=1)
    assert 'zip package of nrfutil' in events(lines, 'error')[0]['message'] and len(events(lines, 'updatePhase')) == 1
    assert events(board('mcumgr', 'dfu', '-', image), 'firmware')[0]['parts'][0]['version'] == '2.0.0'


@mark.parametrize('columns', [100, 40, 12])
def test_progress_at_a_terminal(tmp_path, columns):
    """Progress is one line at any width, which goes away: with octets and rate where there is room, else percent and the time that is left"""
    air, path = tmp_path / 'air.json', tmp_path / 'large.bin'
    air.write_text(json.dumps({'devices': [{'kind': 'mcumgr', 'name': 'Board', 'address': ADDRESS}]}))
    path.write_bytes(mcuboot((2, 0, 0), bytes(150_000)))
    command = [BLETOOL, '--state', str(tmp_path / 'state'), '-t', f'sim:{air}', 'dfu', 'Board', str(path)]
    with Program(command, columns=columns, rows=30) as terminal:
        assert terminal.end(4 * PATIENCE) == 0, terminal.screen.text
    shown = [line for line in re.split('\r\x1b\\[K|\n', terminal.raw) if ' %' in line]
    assert len(shown) > 5 and all(len(line.rstrip('\r')) < columns for line in shown), shown[:5]
    assert any('left' in line for line in shown) == (columns >= 40), shown[:5]
    assert any('bytes' in line and 'left' in line for line in shown) == (columns > 80), shown[:5]
    assert 'updated' in terminal.screen.text.replace('\n', '') and ' left' not in terminal.screen.text


def test_hostile_packages(tmp_path):
    """Zip bombs, names that lead elsewhere and manifests without end are refused in words, in time and memory that a file of their size needs"""
    def package(files, manifest):
        path = tmp_path / 'hostile.zip'
        with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
            archive.writestr('manifest.json', manifest if isinstance(manifest, bytes) else json.dumps(manifest))
        return str(path)
    large = mcuboot((2, 0, 0), bytes(12 << 20))
    limited = lambda: resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))
    makers = {
        'more than 32 MiB': lambda: package({'a': large}, {'files': [{'file': 'a', 'image_index': i} for i in range(16)]}),
        'longer than': lambda: package({}, b' ' * (15 << 20) + b'{}'),
        'nested': lambda: package({}, b'[' * 100_000),
        'lacks the file': lambda: package({'../../etc/passwd': b'x'}, {'files': [{'file': '\x1b[2J../../etc/passwd'}]}),
        'names 9000 files': lambda: package({}, {'files': [{}] * 9000}),
        'the init packet': lambda: package({'a': bytes(15 << 20)}, {'manifest': {'application': {'bin_file': 'a', 'dat_file': 'a'}}})}
    for words, make in makers.items():
        done = subprocess.run([BLETOOL, 'dfu', '-', make()], capture_output=True, text=True, timeout=PATIENCE, preexec_fn=limited)
        assert done.returncode == 2 and words in done.stderr and '\x1b' not in done.stderr, (words, done.stderr)
    assert not os.path.exists(tmp_path / 'etc')
