"""Where the kernel has no Bluetooth: this machine's, as a rule."""
import re, socket, subprocess

from jelling import guest
from jelling.programs import BLETOOL


def has_bluetooth():
    try:
        socket.socket(31, socket.SOCK_RAW, 1).close()
    except PermissionError:
        pass
    except OSError:
        return False
    return True


def test_no_bluetooth_in_this_kernel(tmp_path):
    """a kernel without Bluetooth is named as the reason, with status 3"""
    if has_bluetooth():     # boot a guest and take its modules away
        guest.fill(tmp_path, 'legacy')
        said = guest.launch(tmp_path, 'rm -rf /lib/modules; ./bletool -t user:0 --json info; echo "status $?"', '-r', limit=900).communicate()[0]
        status = int(re.findall(r'status (\d+)', said)[-1])
    else:
        done = subprocess.run([BLETOOL, '-t', 'user:0', '--json', 'info'], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
        status, said = done.returncode, done.stdout + done.stderr
    assert status == 3 and 'kernel' in said.lower(), f'status {status}: {said[-400:]}'
