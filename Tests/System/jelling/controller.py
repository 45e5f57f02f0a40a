"""A scripted LE controller on a unix H4 socket, in the test's own process. It is honest until a case makes it lie.

  controller = Controller(path)          serves one host after the other at controller.endpoint
  controller.answers[opcode] = function  answers a command in place of the table: function(parameters) gives the return
                                         parameters (bytes) of a Command Complete, the status (int) of a Command Status,
                                         SILENT, or Later(seconds, answer); controller.honest(opcode, parameters) is what
                                         the table would have said
  controller.add(device)                 what is on the air: Device (peer.Peer is one), reported to a host that scans and
                                         taken by one that initiates
  controller.connect(device)             the device connects to the host that advertises; gives the Link
  controller.event(code, parameters)     any event; controller.send(packet) any packet at all
  controller.commands, wait_command()    what the host sent: (opcode, parameters)
  controller.air_delay = seconds         how long a packet of the host stays in the controller's buffers; one that is there
                                         when the host disconnects is flushed, as the specification allows
  controller.hold = True                 Number Of Completed Packets is withheld; link.complete(n) sends it
  controller.encrypts = function         decides LE Enable Encryption: function(link, rand, ediv, key) gives the status of
                                         the Encryption Change, or SILENT; the default asks the device for its key
  controller.acl = 27                    octets of an ACL packet toward the host (what the host may send is told at start)

  controller.enhanced = True             reports links with Enhanced Connection Complete; a device's `random` may be 2 or 3 then, by
                                         which the controller says that it resolved an identity address

Addresses are text, as `24:00:00:00:00:01`, beside `random`; keys are most significant octet first."""
import os, queue, socket, struct, threading, time

from jelling.link import Device, Link, octets, text   # noqa: F401, peers import them from here
from jelling.child import PATIENCE, wait_until
from jelling.relay import split_packets

SILENT = object()
COMMAND, ACL, EVENT = 1, 2, 4
COMMAND_COMPLETE, COMMAND_STATUS, COMPLETED_PACKETS, LE_META = 0x0E, 0x0F, 0x13, 0x3E
DISCONNECT, RESET, SET_SCAN_ENABLE, CREATE_CONNECTION, CANCEL = 0x0406, 0x0C03, 0x200C, 0x200D, 0x200E
SET_ADVERTISING_PARAMETERS, SET_ADVERTISING_DATA, SET_SCAN_RESPONSE, SET_ADVERTISING_ENABLE = 0x2006, 0x2008, 0x2009, 0x200A
ENABLE_ENCRYPTION, LTK_REPLY, LTK_NEGATIVE_REPLY = 0x2019, 0x201A, 0x201B
KEY_MISSING, MIC_FAILURE, LOCAL_HOST = 0x06, 0x3D, 0x16


class Later:
    def __init__(self, seconds, answer):
        self.seconds, self.answer = seconds, answer


class Controller:
    def __init__(self, path, address='24:00:00:00:00:01', acl_length=251, acl_count=8, features=1, resolving=0):
        self.endpoint, self.address = f'unix:{path}', address
        self.acl_length, self.acl_count, self.features, self.resolving_size = acl_length, acl_count, features, resolving
        self.acl, self.air_delay, self.hold, self.encrypts, self.enhanced = 251, 0, False, None, False
        self.answers, self.devices, self.watchers = {}, [], []
        self.lock, self.sending, self.changed = threading.RLock(), threading.Lock(), threading.Condition()
        self.commands, self.packets, self.hosts, self.numbers = [], 0, 0, 0
        self.host, self.closed, self.work = None, threading.Event(), queue.Queue()
        self.reset()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        for body in (self.serve, self.tick):
            threading.Thread(target=body, daemon=True).start()

    def reset(self):
        for link in list(getattr(self, 'links', {}).values()):
            link.open, link.reason = False, 0x08
            link.device.ended(link, 0x08)
            link.tell()
        self.links, self.random_address, self.accept_list, self.after = {}, '00:00:00:00:00:00', [], []
        self.scanning = self.advertising = self.initiating = None
        self.advertising_data = self.scan_response = b''
        self.advertising_parameters, self.scan_parameters, self.reported = bytes(15), bytes(7), set()

    def close(self):
        self.closed.set()
        for end in (self.listener, self.host):
            try:
                if end:
                    end.shutdown(socket.SHUT_RDWR)
                    end.close()
            except OSError:
                pass

    def add(self, *devices):
        with self.lock:
            self.devices.extend(d for d in devices if d not in self.devices)

    def remove(self, device):
        with self.lock:
            if device in self.devices:
                self.devices.remove(device)

    # The line

    def serve(self):
        while not self.closed.is_set():
            try:
                host, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.reset()
            self.host, rest = host, b''
            self.hosts += 1
            try:
                while data := host.recv(65536):
                    packets, rest = split_packets(rest + data)
                    for packet in packets:
                        self.take(packet)
            except (OSError, ValueError):
                pass
            with self.lock:
                self.host = None
                self.reset()
            host.close()

    def send(self, packet):
        try:
            with self.sending:
                if self.host:
                    self.host.sendall(packet)
                    return True
        except OSError:
            pass
        return False

    def event(self, code, parameters=b''):
        return self.send(bytes([EVENT, code, len(parameters)]) + parameters)

    def meta(self, subevent, parameters):
        return self.event(LE_META, bytes([subevent]) + parameters)

    def take(self, packet):
        self.packets += 1
        for watcher in self.watchers:
            watcher(packet)
        if packet[0] == COMMAND:
            opcode, parameters = packet[1] | packet[2] << 8, packet[4:]
            with self.changed:
                self.commands.append((opcode, parameters))
                self.changed.notify_all()
            with self.lock:
                function = self.answers.get(opcode)
                answer = function(parameters) if function else self.honest(opcode, parameters)
                if isinstance(answer, Later):
                    self.soon(answer.seconds, lambda: self.answer(opcode, answer.answer))
                else:
                    self.answer(opcode, answer)
                after, self.after = self.after, []
            for step in after:
                step()
        elif packet[0] == ACL:
            name, _ = struct.unpack_from('<HH', packet, 1)
            link = self.links.get(name & 0x0FFF)
            if link:
                link.pending.append((name >> 12, packet[5:]))
                self.soon(self.air_delay, lambda: self.pass_on(link)) if self.air_delay else self.pass_on(link)

    def pass_on(self, link):
        """The oldest packet of the host reaches the device; then it is completed, as what is completed is never flushed."""
        with link.order:
            if not link.open or not link.pending:
                return
            link.take(*link.pending.pop(0))
            if self.hold:
                link.withheld += 1
            else:
                self.event(COMPLETED_PACKETS, struct.pack('<BHH', 1, link.handle, 1))

    def soon(self, seconds, step):
        timer = threading.Timer(seconds, step)
        timer.daemon = True
        timer.start()

    def answer(self, opcode, answer):
        if answer is SILENT:
            return
        if isinstance(answer, int):
            self.event(COMMAND_STATUS, struct.pack('<BBH', answer, 1, opcode))
        else:
            self.event(COMMAND_COMPLETE, struct.pack('<BH', 1, opcode) + answer)

    def wait_command(self, opcode, seconds=PATIENCE, count=1):
        """The parameters of the count-th such command."""
        found = lambda: [p for o, p in list(self.commands) if o == opcode]
        wait_until(lambda: len(found()) >= count, lambda: f'no command {opcode:#06x}; last {self.commands[-3:]}', seconds, 0.01)
        return found()[count - 1]

    def wait(self, condition, what, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f'no {what} in {seconds} s'
            time.sleep(0.005)

    # Honest answers

    def honest(self, opcode, parameters):
        name = NAMES.get(opcode)
        if name:
            return getattr(self, name)(parameters)
        if opcode in CONSTANT:
            return CONSTANT[opcode]
        return b'\0' if opcode in PLAIN else b'\1'      # Unknown HCI Command

    def do_reset(self, _):
        self.reset()
        return b'\0'

    def do_address(self, _):
        return b'\0' + octets(self.address)

    def do_features(self, _):
        return b'\0' + self.features.to_bytes(8, 'little')

    def do_buffers(self, _):
        return b'\0' + struct.pack('<HB', self.acl_length, self.acl_count)

    def do_resolving_size(self, _):
        return bytes([0, self.resolving_size])

    def do_rand(self, _):
        return b'\0' + os.urandom(8)

    def do_random_address(self, parameters):
        self.random_address = text(parameters)
        return b'\0'

    def do_advertising_parameters(self, parameters):
        self.advertising_parameters = parameters
        return b'\0'

    def do_advertising_data(self, parameters):
        self.advertising_data = parameters[1:1 + parameters[0]]
        return b'\0'

    def do_scan_response(self, parameters):
        self.scan_response = parameters[1:1 + parameters[0]]
        return b'\0'

    def do_advertising(self, parameters):
        self.advertising = parameters[0] or None
        return b'\0'

    def do_scan_parameters(self, parameters):
        self.scan_parameters = parameters
        return b'\0'

    def do_scan(self, parameters):
        self.scanning, self.reported = ('filtered' if parameters[1] else 'all') if parameters[0] else None, set()
        return b'\0'

    def do_clear_accept_list(self, _):
        self.accept_list = []
        return b'\0'

    def do_add_to_accept_list(self, parameters):
        self.accept_list.append((parameters[0], text(parameters[1:7])))
        return b'\0'

    def do_remove_from_accept_list(self, parameters):
        entry = parameters[0], text(parameters[1:7])
        self.accept_list = [e for e in self.accept_list if e != entry]
        return b'\0'

    def do_create_connection(self, parameters):
        self.initiating = parameters
        return 0

    def do_cancel(self, _):
        if not self.initiating:
            return b'\x0c'
        self.initiating = None
        self.after.append(lambda: self.meta(0x01, b'\2' + bytes(17)))
        return b'\0'

    def do_disconnect(self, parameters):
        handle, reason = struct.unpack('<HB', parameters)
        link = self.links.get(handle & 0x0FFF)
        if not link:
            return 0x02
        link.pending.clear()      # flushed
        self.after.append(lambda: link.finish(LOCAL_HOST, reason))
        return 0

    def do_remote_version(self, parameters):
        self.after.append(lambda: self.event(0x0C, b'\0' + parameters + b'\x0d\xff\xff\0\0'))
        return 0

    def do_remote_features(self, parameters):
        self.after.append(lambda: self.meta(0x04, b'\0' + parameters + b'\1' + bytes(7)))
        return 0

    def do_update(self, parameters):
        self.after.append(lambda: self.meta(0x03, b'\0' + parameters[:2] + parameters[4:10]))
        return 0

    def do_handle(self, parameters):
        return b'\0' + parameters[:2]

    def do_rssi(self, parameters):
        return b'\0' + parameters[:2] + b'\xc8'

    def do_enable_encryption(self, parameters):
        handle, rand, ediv = struct.unpack_from('<HQH', parameters)
        link, key = self.links.get(handle), parameters[12:28][::-1]
        if not link:
            return 0x02
        self.after.append(lambda: self.decide(link, rand, ediv, key))
        return 0

    def decide(self, link, rand, ediv, key):
        if self.encrypts:
            status = self.encrypts(link, rand, ediv, key)
            if status is not SILENT:
                link.change_encryption(status)
            return
        theirs = link.device.find_key(link, rand, ediv)
        if theirs is None:
            link.change_encryption(KEY_MISSING)
        elif theirs != key:
            link.finish(MIC_FAILURE, MIC_FAILURE)
        else:
            link.change_encryption(0)

    def do_ltk_reply(self, parameters):
        link = self.links.get(struct.unpack_from('<H', parameters)[0])
        if not link:
            return b'\2' + parameters[:2]
        if parameters[2:18][::-1] == link.wanted_key:
            self.after.append(lambda: link.change_encryption(0))
        else:
            self.after.append(lambda: link.finish(MIC_FAILURE, MIC_FAILURE))
        return b'\0' + parameters[:2]

    def do_ltk_negative(self, parameters):
        link = self.links.get(struct.unpack_from('<H', parameters)[0])
        if link:
            # This host gets no event; the other side does (Core 5.4, Vol 6, Part D, 6.6).
            link.encryption = KEY_MISSING
            link.tell()
        return b'\0' + parameters[:2]

    # The air

    def tick(self):
        while not self.closed.wait(0.02):
            with self.lock:
                if self.scanning:
                    self.report_all()
                if self.initiating:
                    self.initiate()

    def free(self):
        """The devices that have no link: a peripheral stops advertising while it has one."""
        taken = [link.device for link in self.links.values()]
        return [d for d in self.devices if d not in taken]

    def report_all(self):
        for device in self.free():
            if self.scanning == 'filtered' and (device.address, device.data) in self.reported:
                continue
            self.reported.add((device.address, device.data))
            self.report(device.event_type, device.random, device.address, device.data, device.rssi)
            if self.scan_parameters[0] and device.event_type in (0, 2):
                self.report(4, device.random, device.address, device.scan_response, device.rssi)

    def report(self, kind, random, address, data, rssi=-50):
        self.meta(0x02, bytes([1, kind, random]) + octets(address) + bytes([len(data)]) + data + bytes([rssi & 0xFF]))

    def initiate(self):
        policy, kind, wire, own = self.initiating[4], self.initiating[5], self.initiating[6:12], self.initiating[12]
        wanted = self.accept_list if policy else [(kind & 1, text(wire))]
        for device in self.free():
            if device.connectable and (device.random & 1, device.address) in wanted:
                self.initiating = None
                self.establish(device, 0, own)
                return

    def establish(self, device, host_role, own_type):
        """Connection Complete; the device is notified of the link."""
        handle = next(h for h in range(0x40, 0x0F00) if h not in self.links)
        own = self.random_address if own_type & 1 else self.address
        self.numbers += 1
        link = Link(self, handle, host_role, bytes([own_type & 1]) + octets(own)[::-1], device, self.numbers)
        self.links[handle] = link
        device.connected(link)
        head = struct.pack('<BHBB', 0, handle, host_role, int(device.random)) + octets(device.address)
        tail = struct.pack('<HHHB', 24, 0, 200, 0)
        self.meta(0x0A, head + bytes(12) + tail) if self.enhanced else self.meta(0x01, head + tail)
        return link

    def connect(self, device, seconds=PATIENCE):
        """The device connects to the host, once that advertises."""
        self.wait(lambda: self.advertising, 'advertising', seconds)
        with self.lock:
            self.advertising = None
            return self.establish(device, 1, self.advertising_parameters[5])


NAMES = {
    RESET: 'do_reset', 0x1009: 'do_address', 0x2003: 'do_features', 0x2002: 'do_buffers', 0x202A: 'do_resolving_size',
    0x2018: 'do_rand', 0x2005: 'do_random_address', SET_ADVERTISING_PARAMETERS: 'do_advertising_parameters',
    SET_ADVERTISING_DATA: 'do_advertising_data', SET_SCAN_RESPONSE: 'do_scan_response',
    SET_ADVERTISING_ENABLE: 'do_advertising', 0x200B: 'do_scan_parameters', SET_SCAN_ENABLE: 'do_scan',
    0x2010: 'do_clear_accept_list', 0x2011: 'do_add_to_accept_list', 0x2012: 'do_remove_from_accept_list',
    CREATE_CONNECTION: 'do_create_connection', CANCEL: 'do_cancel', DISCONNECT: 'do_disconnect',
    0x041D: 'do_remote_version', 0x2016: 'do_remote_features', 0x2013: 'do_update', 0x2022: 'do_handle',
    0x1405: 'do_rssi', ENABLE_ENCRYPTION: 'do_enable_encryption', LTK_REPLY: 'do_ltk_reply',
    LTK_NEGATIVE_REPLY: 'do_ltk_negative', 0x2020: 'do_handle', 0x2021: 'do_handle'}
CONSTANT = {
    0x1001: b'\0\x0d\0\0\x0d\xff\xff\0\0', 0x1002: b'\0' + b'\xff' * 64, 0x1003: b'\0' + bytes(4) + b'\x60' + bytes(3),
    0x1005: b'\0' + struct.pack('<HBHH', 251, 0, 8, 0), 0x201C: b'\0' + b'\xff' * 8, 0x200F: b'\0\x08',
    0x202F: b'\0' + struct.pack('<HHHH', 251, 2120, 251, 2120), 0x2007: b'\0\0'}
PLAIN = {0x0C01, 0x2001, 0x2024, 0x0C63, 0x0C6D, 0x2027, 0x2028, 0x2029, 0x202D, 0x202E, 0x204E}
