"""Starts a real systemd in the guest, and the tests as a service of it: process 1 of a namespace, so that the guest's own process 1
stays. The arguments are the command that runs the tests."""
import os, pathlib, shlex, shutil, subprocess, sys, time

from kernel import bled
from kernel.bled import LIMIT, plug, shell

UNITS, ADDRESSES = '/etc/systemd/system', bled.ADDRESSES
DONE, OUTPUT = '/run/tests-done', '/run/tests-output'
# What a machine has and this namespace does not.
MASKED = ['systemd-udevd.service', 'systemd-udevd-control.socket', 'systemd-udevd-kernel.socket', 'systemd-udev-trigger.service',
          'sys-kernel-config.mount', 'sys-kernel-debug.mount', 'sys-kernel-tracing.mount', 'dev-hugepages.mount', 'dev-mqueue.mount',
          'systemd-modules-load.service', 'systemd-firstboot.service', 'systemd-random-seed.service', 'systemd-update-utmp.service',
          'kmod-static-nodes.service', 'systemd-remount-fs.service', 'systemd-hwdb-update.service', 'systemd-pstore.service',
          # It would empty /tmp, with the programs.
          'systemd-tmpfiles-setup.service', 'systemd-tmpfiles-setup-dev.service',
          'systemd-timesyncd.service', 'proc-sys-fs-binfmt_misc.automount', 'bluetooth.service', 'dbus.socket', 'dbus.service']
TESTS = f'''[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
WorkingDirectory=/host/Tests/System
Environment=PYTHONPATH={os.environ.get('PYTHONPATH')} JELLING_GUEST=systemd PATH=/usr/sbin:/usr/bin:/sbin:/bin
ExecStart={shlex.join(sys.argv[1:])}
StandardOutput=file:{OUTPUT}
StandardError=file:{OUTPUT}
TimeoutStartSec=infinity
ExecStopPost=/bin/sh -c 'touch {DONE}'
'''
# The guest is slow, and bled's log is read here.
SETTINGS = '[Service]\nWatchdogSec=20\nStandardError=append:/run/bled.log\nStandardOutput=append:/run/bled.log\n'


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pathlib.Path(path).write_text(text)
    os.chmod(path, 0o644)


def boot():
    for path in ('bled', 'heart-rate-relay', *(name for name in os.listdir('/tmp') if '.so' in name)):
        shutil.copy(f'/tmp/{path}', '/usr/bin/')
    with open('/etc/passwd', 'a') as users, open('/etc/group', 'a') as groups:
        users.write('jelling:x:200:200::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n')
        groups.write('jelling:x:200:\nnogroup:x:65534:\n')
    shell('mkdir -p /sys/fs/cgroup; mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup')
    for unit in 'bled.service', 'bled.socket':
        write(f'{UNITS}/{unit}', open(f'/host/{unit}').read())
    write(f'{UNITS}/bled.service.d/tests.conf', SETTINGS)
    write(f'{UNITS}/tests.service', TESTS)
    write(f'{UNITS}/tests.target', '[Unit]\nDefaultDependencies=no\nWants=tests.service\n')
    for unit in MASKED:
        os.symlink('/dev/null', f'{UNITS}/{unit}')
    adapters = plug(2)
    log = open('/run/systemd.log', 'w')
    manager = subprocess.Popen(['unshare', '-p', '-f', '-m', '--mount-proc', '/usr/lib/systemd/systemd', '--unit=tests.target',
                                '--log-target=console', '--show-status=0'], env={**os.environ, 'container': 'jelling'},
                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    ends = time.monotonic() + 4 * LIMIT
    while not os.path.exists(DONE) and manager.poll() is None and time.monotonic() < ends:
        time.sleep(0.5)
    print(open(OUTPUT).read() if os.path.exists(OUTPUT) else open('/run/systemd.log').read()[-3000:])
    for process in adapters, manager:
        process.kill()


if __name__ == '__main__':
    boot()
