"""What USB devices of a virtual machine have behind them, outside: controllers of Bumble's with a peer, and the server of USB/IP."""
import os, sys

from jelling import programs
from jelling.child import Child, free_port


class Dongles:
    """The peer advertises and serves as Tools/peers/peer_peripheral.py does with these arguments."""

    def __init__(self, folder, *peer):
        self.folder, self.children, self.port = folder, [], free_port()
        try:
            if not os.path.exists(programs.PYTHON):
                raise FileNotFoundError(f'{programs.PYTHON} is missing: Tools/install peers')
            self.endpoint, peers = (f'unix:{folder}/hci{number}' for number in (0, 1))
            self.start('controllers', programs.PYTHON, f'{programs.PEER_SCRIPTS}/controllers.py', self.endpoint, peers, '--acl-len', '251',
                       '--acl-num', '16').wait_for(lambda line: 'endpoints' in line, 'READY')
            self.start('peer', programs.PYTHON, f'{programs.PEER_SCRIPTS}/peer_peripheral.py', peers, *peer).wait_event('ready')
            self.plug_in()
        except BaseException:
            self.close()
            raise

    def plug_in(self):
        self.server = self.start('usbip', sys.executable, f'{programs.LIBRARY}/usbip.py', self.endpoint, '--port', str(self.port))
        self.server.wait_for(lambda line: 'port' in line, 'READY')

    def pull_out(self):
        """Every dongle disappears; after `plug_in` they can be taken again, at the same port."""
        self.server.end()

    def start(self, name, *command):
        self.children.append(Child(name, list(command), os.path.join(self.folder, f'{name}.err')))
        return self.children[-1]

    def close(self):
        for child in reversed(self.children):
            child.end()
