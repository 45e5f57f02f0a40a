"""Enhanced credit-based channels to sockets of the kernel."""
import ctypes, os, signal, socket, struct, subprocess

from pytest import mark

from jelling.child import Child
from kernel.bluez import BLUEZ_ADDRESS, ECRED
from kernel.harness import AF_BLUETOOTH, TOOL

pytestmark = mark.usefixtures('bluez')

BTPROTO_L2CAP, LE_PUBLIC = 0, 1
SOL_BLUETOOTH, BT_SNDMTU, BT_RCVMTU, BT_MODE, EXTENDED_FLOW_CONTROL = 274, 12, 13, 15, 4
PSM, PATIENCE = 0x81, 180


def listener():
    """A socket of hci0 that accepts enhanced channels."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC, BTPROTO_L2CAP)
    assert descriptor >= 0, 'no socket'
    listening = socket.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET, BTPROTO_L2CAP, fileno=descriptor)
    own = bytes.fromhex(BLUEZ_ADDRESS.replace(':', ''))[::-1]
    address = struct.pack('<HH6sHBx', AF_BLUETOOTH, PSM, own, 0, LE_PUBLIC)
    assert libc.bind(descriptor, address, len(address)) == 0, f'bind: {os.strerror(ctypes.get_errno())}'
    listening.setsockopt(SOL_BLUETOOTH, BT_MODE, bytes([EXTENDED_FLOW_CONTROL]))
    listening.listen(1)
    listening.settimeout(PATIENCE)
    return listening


def mtu(channel, option):
    return struct.unpack('<H', channel.getsockopt(SOL_BLUETOOTH, option, 2))[0]


def waits_for(tool, event, **wanted):
    wanted['event'] = event
    tool.wait_for(lambda line: wanted.items() <= line.items(), wanted, PATIENCE)


def test_channel_is_reconfigured():
    """The kernel and `l2cap connect --reconfigure` let each other send longer messages on an open channel, and both then do"""
    assert os.path.exists(ECRED) and open(ECRED).read().strip() in ('Y', '1'), 'the kernel has no enhanced channels'
    with listener() as listening:
        tool = Child('l2cap', [TOOL, '-t', 'user:1', '--json', 'l2cap', 'connect', BLUEZ_ADDRESS, '--psm', str(PSM), '--enhanced', '--mtu',
                               '100', '--mps', '64', '--reconfigure', '4000,200'], '/tmp/l2cap.err',
                     {**os.environ, 'XDG_STATE_HOME': '/tmp/state'}, stdin=subprocess.PIPE)
        try:
            channel, _ = listening.accept()
            channel.settimeout(PATIENCE)
            waits_for(tool, 'channelOpened', receiveMTU=100)
            waits_for(tool, 'channelReconfigured', receiveMTU=4000)
            assert mtu(channel, BT_SNDMTU) == 4000, f'the kernel sends {mtu(channel, BT_SNDMTU)} octets'
            # On an open channel this is a request of the kernel's.
            channel.setsockopt(SOL_BLUETOOTH, BT_RCVMTU, struct.pack('<H', 3000))
            waits_for(tool, 'channelReconfigured', sendMTU=3000, receiveMTU=4000)
            message = bytes(n % 251 for n in range(4000))
            channel.send(message)
            waits_for(tool, 'channelData', value=message.hex())
            tool.process.stdin.write(message[:3000])
            tool.process.stdin.flush()
            came = channel.recv(65536)
            assert came == message[:3000], f'{len(came)} octets came as one message'
            channel.close()
            waits_for(tool, 'channelClosed')
            assert tool.process.wait(PATIENCE) == 0, f'status {tool.process.returncode}'
        finally:
            tool.end(signal.SIGKILL)
