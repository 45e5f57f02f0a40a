"""One bench for each case: a temporary folder, state folders, a scripted controller, and the programs at work on it.

A case is a function of a bench; its docstring is the sentence that must hold:

  @case()
  def no_secret_in_the_clear(bench):
      '''What a bonded peer without keys is sent: nothing of GATT'''
      lock = bench.device('Lock', services=['180D'])
      secret = lock.server.characteristic(SECRET, READ | WRITE, b'secret', needs='encryption')
      lock.advertise()
      bench.run('pair', 'Lock')                 # the tool, to its end; status=1 where it must fail, None: any
      lock.keys = None                          # it lost them
      result = bench.gatt('read', SECRET, status=1)
      same('GATT in the clear', lock.gatt_in_clear(lock.links[-1]), [])

From Tools/Interop/lab.py come run, start, finish, gatt, app, script, path, and Child, Terminal, Result. A program that ends by
a trap, a crash or an assertion fails its case, whatever the case looked at."""
import json, os, signal, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), 'Interop'))     # after this folder: some names are in both
import lab
from cases import Skip, check, same   # noqa: F401, cases use them
from lab import BLETOOL, EXAMPLES, PATIENCE, ROOT, Child, Failure, Result, Terminal   # noqa: F401
from controller import Controller
from peer import Peer

CRASHES = {-signal.SIGILL, -signal.SIGTRAP, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGFPE}
CASES = []
SEED = 1     # of the cases with chance in them


class Case:
    def __init__(self, test, slow, settings):
        self.test, self.slow, self.settings = test, slow, settings
        self.name, self.sentence = test.__name__, test.__doc__.strip().splitlines()[0]


def case(slow=False, through_bled=False, **settings):
    """Registers a case; a slow one starts first. With `through_bled` it runs once more, with the controller in the hands of a daemon.
    The settings are those of the Controller."""
    def register(test):
        CASES.append(Case(test, slow, settings))
        if through_bled:
            def again(bench):
                bench.through_bled = True
                return test(bench)
            again.__name__, again.__doc__ = f'{test.__name__}_through_bled', f'Through bled: {test.__doc__.strip()}'
            CASES.append(Case(again, slow, settings))
        return test
    return register


class Bench(lab.Lab):
    # Whether the programs get the controller from a daemon.
    through_bled = False

    def __init__(self, settings):
        super().__init__('attack')
        self.tool_options = []
        self.controllers = [Controller(self.path('hci0'), **settings)]
        self.controller = self.controllers[0]
        self.endpoint = self.controller.endpoint
        self.endpoints = [self.endpoint]

    def another_controller(self, **settings):
        """One more, on which another program runs at the same time."""
        self.controllers.append(Controller(self.path(f'hci{len(self.controllers)}'), **settings))
        self.endpoints.append(self.controllers[-1].endpoint)
        return self.controllers[-1]

    def command(self, *arguments, via=None, **how):
        if self.through_bled and not via:
            via = f'bled:{self.bled(self.endpoint)}'
        return super().command(*arguments, via=via, **how)

    def device(self, name='Lock', address='C0:00:00:00:00:01', random=True, services=('180D',), **settings):
        return Peer(self.controller, address, random, name, services, **settings)

    def central(self, address='C0:00:00:00:00:02', random=True, **settings):
        """A peer that will connect; it advertises nothing."""
        return Peer(self.controller, address, random, 'a central', **settings)

    def gatt(self, *arguments, peer='Lock', **how):
        return self.run('gatt', peer, *arguments, **how)

    def serve(self, profile, *arguments, **how):
        """Starts `serve`, and waits until it advertises."""
        self.number += 1
        path = self.path(f'profile{self.number}.json')
        with open(path, 'w') as file:
            json.dump(profile, file)
        tool = self.start('serve', '--profile', path, *arguments, **how)
        self.controller.wait(lambda: self.controller.advertising or tool.process.poll() is not None, 'advertising')
        check(tool.process.poll() is None, f'serve ended: {tool.stderr()}')
        return tool

    def stop(self, tool, status=0):
        """SIGTERM ends it in order."""
        tool.is_ended = True
        tool.process.send_signal(signal.SIGTERM)
        result = self.finish(tool)
        if status is not None:
            same('exit status: ' + result.describe(), result.status, status)
        return result

    def bonds(self):
        """The bonds of the tool, without the time at which they were printed."""
        return [{key: value for key, value in line.items() if key != 'time'} for line in self.run('bonds').events('bond')]

    def wait_event(self, child, name, count=1, seconds=PATIENCE):
        return child.wait_for(lambda line: line.get('event') == name, name, seconds, count)

    def memory(self, child):
        """The largest resident set so far, in octets."""
        try:
            with open(f'/proc/{child.process.pid}/status') as status:
                for line in status:
                    if line.startswith('VmHWM'):
                        return int(line.split()[1]) * 1024
        except OSError:
            pass
        return 0

    def close(self):
        """Ends everything; the programs first, so that they find their controller."""
        for child in reversed(self.children):
            child.end()
        crashed = [f'{c.name} ended with signal {-c.process.returncode}: {c.stderr()[-400:]}' for c in self.children
                   if c.process.returncode in CRASHES]
        for controller in self.controllers:
            controller.close()
        super().close()
        if crashed:
            raise Failure('\n'.join(crashed))
