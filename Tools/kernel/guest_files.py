"""What goes into a guest: the suite, bletool with the libraries that it is linked with, and the hosts of other makes."""
import os, re, shutil, subprocess, sys, tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, 'Tests', 'System'))
from jelling import programs   # noqa: E402

GO = '/usr/share/gocode'    # where Debian has packages of Go


def build(product='bletool'):
    """The binary that the other tests use too (Tests/System/jelling/programs.py); a debug build is brought up to date first."""
    ready = programs.path(product)
    if os.path.dirname(ready) == os.path.join(ROOT, '.build', 'debug'):
        subprocess.run(['swift', 'build', '--package-path', ROOT, '--product', product], check=True, stdin=subprocess.DEVNULL,
                       stdout=sys.stderr)
    elif not os.path.exists(ready):
        sys.exit(f'{ready} is missing: {programs.remedy(product)}')
    return ready


def libraries(binary):
    """What a binary is linked with and the guest lacks: all but the C library."""
    listed = subprocess.run(['ldd', binary], capture_output=True, text=True).stdout
    found = re.findall(r'=> (/\S+)', listed)
    return [path for path in found if not re.match(r'(libc|libm|libdl|libpthread|librt)\.so', os.path.basename(path))]


SUITE = ['guest_suite.py', 'guest_harness.py', 'guest_bleak.py', 'guest_bluez.py', 'guest_breadth.py', 'guest_caching.py',
         'guest_channels.py', 'guest_hosts.py', 'guest_pairing.py', 'guest_relay.py', 'guest_trains.py', 'hosts/pybleno_host.py',
         'hosts/whad_host.py']
DAEMON = ['guest_daemon.py', 'guest_bled.py', 'guest_systemd.py', '../systemd/bled.service', '../systemd/bled.socket',
          '../Daemon/client.py', '../Daemon/actor.py']


def fill(share, binary, name='bletool', parts=SUITE):
    """Puts them into the folder that the guest sees; the binary's path there."""
    os.chmod(share, 0o755)
    for part in parts:
        shutil.copy(f'{HERE}/{part}', share)
    target = os.path.join(share, name)
    # Without symbols it starts faster in the guest, which reads it over 9p and runs without acceleration.
    if subprocess.run(['strip', '-o', target, binary], stderr=subprocess.DEVNULL).returncode:
        shutil.copy(binary, target)
    # A program looks for its libraries beside itself, too.
    for path in libraries(binary):
        shutil.copy(path, share)
    return target


def fill_hosts(share):
    """Puts the hosts of other makes that Tools/install has installed into the folder; the tests of the others are skipped."""
    if shutil.which('go') and os.path.isdir(f'{GO}/src/github.com/paypal/gatt'):
        subprocess.run(['go', 'build', '-trimpath', '-ldflags=-s -w', '-o', f'{share}/gatt-host', '.'], cwd=f'{HERE}/hosts/gatt',
                       env={**os.environ, 'GO111MODULE': 'off', 'GOPATH': GO, 'GOFLAGS': '', 'CGO_ENABLED': '0'}, check=True)
    if os.path.isfile(f'{ROOT}/.cache/hosts/installed'):
        with tarfile.open(f'{share}/hosts.tar', 'w') as packed:
            packed.add(f'{ROOT}/.cache/hosts/python', '.')
