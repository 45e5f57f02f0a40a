"""An adapter for hosts that know dual-mode controllers only, for test_hosts.py: a virtual one of the kernel, hci2, whose packets
go to the LE-only controller behind hci0 and back. What that does not know, the relay says has been done."""
import os, select, socket, struct, threading

from kernel.harness import AF_BLUETOOTH, BTPROTO_HCI, claim_user_channel, is_free, shell, wait_until

INDEX, LONGEST = 2, 2048
EVENT, VENDOR = 0x04, 0xFF
COMMAND_COMPLETE, COMMAND_STATUS, UNKNOWN_COMMAND = 0x0E, 0x0F, 0x01
READ_LOCAL_NAME, READ_SUPPORTED_COMMANDS, SET_CHANNELS, OF_LE_CONTROLLERS = 0x0C14, 0x1002, 0x2014, 8
# (octet, bit) in the list of supported commands: Read Local Name, Write Connection Accept Timeout, Write Simple Pairing Mode,
# Write LE Host Support, LE Set Host Channel Classification, which btvirt lacks; Core 5.4, Vol 4, Part E, 6.27.
CLAIMED = ((7, 1), (7, 3), (17, 6), (24, 6), (27, 3))


def as_dual_mode(packet):
    """A packet from an LE-only controller as a dual-mode one would send it."""
    if len(packet) == 7 and packet[:2] == bytes([EVENT, COMMAND_STATUS]) and packet[3] == UNKNOWN_COMMAND:
        opcode = struct.unpack_from('<H', packet, 5)[0]
        if opcode >> 10 < OF_LE_CONTROLLERS or opcode == SET_CHANNELS:
            answer = bytes([0]) + bytes(248 if opcode == READ_LOCAL_NAME else 0)
            return bytes([EVENT, COMMAND_COMPLETE, 3 + len(answer), packet[4]]) + packet[5:7] + answer
    if packet[:2] == bytes([EVENT, COMMAND_COMPLETE]) and struct.unpack_from('<H', packet, 4)[0] == READ_SUPPORTED_COMMANDS:
        changed = bytearray(packet)
        for octet, bit in CLAIMED:
            changed[7 + octet] |= 1 << bit
        return bytes(changed)
    return packet


class Relay:
    """The adapter hci2, as long as it is entered."""

    def __enter__(self):
        wait_until(lambda: is_free(0), 'hci0 free')
        self.controller = socket.socket(AF_BLUETOOTH, socket.SOCK_RAW, BTPROTO_HCI, fileno=claim_user_channel(0))
        self.adapter = os.open('/dev/vhci', os.O_RDWR)
        self.ended, self.end = os.pipe()
        os.write(self.adapter, bytes([VENDOR, 0]))
        self.thread = threading.Thread(target=self.pass_on, daemon=True)
        self.thread.start()
        wait_until(lambda: 'UP' in shell(f'hciconfig hci{INDEX} up; hciconfig hci{INDEX}', False).split(), 'hci2 up')
        shell(f'hciconfig hci{INDEX} down')
        wait_until(lambda: is_free(INDEX), 'hci2 free')
        return self

    def pass_on(self):
        while True:
            ready, _, _ = select.select([self.controller, self.adapter, self.ended], [], [])
            if self.ended in ready:
                return
            if self.controller in ready:
                os.write(self.adapter, as_dual_mode(self.controller.recv(LONGEST)))
            if self.adapter in ready:
                packet = os.read(self.adapter, LONGEST)
                if packet[0] != VENDOR:     # the kernel's word on the index
                    self.controller.send(packet)

    def __exit__(self, *_):
        os.close(self.end)
        self.thread.join(60)
        os.close(self.ended)
        os.close(self.adapter)
        self.controller.close()
        wait_until(lambda: not os.path.exists(f'/sys/class/bluetooth/hci{INDEX}'), 'the end of hci2')
