"""One bench for each case: a temporary folder, state folders, a scripted controller, and the programs at work on it.

A test is a function of a bench; its docstring is the sentence that must hold:

  def test_no_secret_in_the_clear(bench):
      '''What a bonded peer without keys is sent: nothing of GATT'''
      lock = bench.device('Lock', services=['180D'])
      secret = lock.server.characteristic(SECRET, READ | WRITE, b'secret', needs='encryption')
      lock.advertise()
      bench.run('pair', 'Lock')                 # the tool, to its end; status=1 where it must fail, None: any
      lock.keys = None                          # it lost them
      result = bench.gatt('read', SECRET, status=1)
      assert lock.gatt_in_clear(lock.links[-1]) == []

`mark.controller` has settings of the Controller; with `mark.through_bled` a test runs once more, with the controller in the hands of
a daemon. From jelling/lab.py come run, start, finish, gatt, app, script, path. A program that ends by
a trap, a crash or an assertion fails its case, whatever the case looked at."""
import signal

from jelling.child import Failure
from jelling.lab import Lab
from jelling.measures import kilobytes
from jelling.controller import Controller
from jelling.peer import Peer

CRASHES = {-signal.SIGILL, -signal.SIGTRAP, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGFPE}


class Bench(Lab):
    def __init__(self, through_bled=False, **settings):
        super().__init__('scripted')
        self.through_bled = through_bled
        self.tool_options = []
        self.controllers = [Controller(self.path('hci0'), **settings)]
        self.controller = self.controllers[0]
        self.endpoint = self.controller.endpoint
        self.endpoints = [self.endpoint]

    def device(self, name='Lock', address='C0:00:00:00:00:01', random=True, services=('180D',), **settings):
        return Peer(self.controller, address, random, name, services, **settings)

    def central(self, address='C0:00:00:00:00:02', random=True, **settings):
        """A peer that will connect; it advertises nothing."""
        return Peer(self.controller, address, random, 'a central', **settings)

    def gatt(self, *arguments, peer='Lock', **how):
        return self.run('gatt', peer, *arguments, **how)

    def value(self, uuid, *options, peer='Lock', **how):
        """The value that `gatt read` prints."""
        return bytes.fromhex(self.gatt('read', uuid, *options, peer=peer, **how).events('value')[0]['value'])

    def serve(self, profile, *arguments, **how):
        """Starts `serve`, and waits until it advertises."""
        tool = self.start('serve', '--profile', self.profile(profile), *arguments, **how)
        self.controller.wait(lambda: self.controller.advertising or tool.process.poll() is not None, 'advertising')
        assert tool.process.poll() is None, f'serve ended: {tool.stderr()}'
        self.servers.append(tool)
        return tool

    def served(self, profile, *arguments, **how):
        """`serve`, and a central that is connected to it."""
        return self.serve(profile, *arguments, **how), self.central().connect()

    def stop(self, tool, status=0):
        """SIGTERM ends it in order."""
        tool.is_ended = True
        tool.process.send_signal(signal.SIGTERM)
        result = self.finish(tool)
        if status is not None:
            assert result.status == status, 'exit status: ' + result.describe()
        return result

    def bonds(self):
        """The bonds of the tool, without the time at which they were printed."""
        return [{key: value for key, value in line.items() if key != 'time'} for line in self.run('bonds').events('bond')]

    def memory(self, child):
        """The largest resident set so far, in octets."""
        try:
            return kilobytes(getattr(child, 'process', child), 'VmHWM') * 1024
        except (OSError, TypeError):
            # It has ended.
            return 0

    def close(self):
        """Ends everything; the programs first, so that they find their controller."""
        for child in reversed(self.children):
            child.end()
        for controller in self.controllers:
            controller.close()
        super().close()
        if crashed := [f'{c.name} ended with signal {-c.process.returncode}: {c.stderr()[-400:]}' for c in self.children
                       if c.process.returncode in CRASHES]:
            raise Failure('\n'.join(crashed))
