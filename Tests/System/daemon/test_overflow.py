"""The overflow area of apps that share bled: one mask of all of them, read by Bumble, which computes the bits itself, and by another
app on a controller of its own."""
import os, signal, time

from jelling import lab as bench
from jelling.apps import actor, launch, leave, told, wait_for
from jelling.daemon import LIMIT, Daemon, ended
from jelling.programs import EXAMPLES
from interop import test_overflow as air

ONE, TWO, THREE, FOUR = (f'org.example.{name}' for name in ('one', 'two', 'three', 'four'))
SERVICES = {ONE: '180F', TWO: '6B7A0101-9D1C-4F5E-8A2B-3C4D5E6F7081', THREE: '181A', FOUR: '181C'}
OF_TOOL = '1822'
EVERY = [*SERVICES.values(), OF_TOOL]
PERIPHERAL = ['bluetooth-peripheral']


def advertiser(name, wish={}, **more):
    service = SERVICES[name].replace('-', '').lower()
    return actor(name, {'restore': name, 'advertise': name[-5:], 'services': [service], **wish}, modes=PERIPHERAL, **more)


def hashed(lab, *names, company=air.APPLE):
    """Waits until Bumble finds the services of exactly these apps in the mask, and no other bit."""
    wanted = [SERVICES[name] for name in names]
    line = air.heard(lab, wanted, *(uuid for uuid in EVERY if uuid not in wanted), company=company)
    assert (line['visible'], line['bits']) == ([], len(names)), line
    return line


def only_flags(lab):
    """Waits until Bumble hears nothing but flags."""
    deadline = time.monotonic() + LIMIT
    while True:
        lines = [line for line in air.scanner(lab, '--seconds', '2').lines if line['ev'] == 'advertiser']
        if lines and not lines[-1]['data'].replace('020106', ''):
            return
        assert time.monotonic() < deadline, lines


def begin(daemon, *names):
    launch(daemon, *names)
    for name in names:
        wait_for(daemon, name, 'advertising')
    leave(daemon, *names)


def joined(kind):
    with bench.Lab(kind, 3).open(peer=False) as lab:
        lab.every_link_ends_by_us = False
        apps = [advertiser(ONE), advertiser(TWO), advertiser(THREE, overflow='off'), advertiser(FOUR, {'overflow': 'off'})]
        with Daemon(settings={}, adapter=lab.endpoint, apps=apps) as daemon:
            begin(daemon, ONE, TWO, THREE, FOUR)
            # A tool asks for nothing of it, also in the background.
            with daemon.running('advertise', '--background', '--service', OF_TOOL):
                hashed(lab, ONE, TWO)
                found = air.search(lab, SERVICES[TWO])
                line = found.wait_event('discovered')[0]
                assert (line['visible'], line['hashed'], line['name']) == ('', SERVICES[TWO], ''), line
                found.end(signal.SIGKILL)
                air.finds_nothing(lab, SERVICES[THREE], SERVICES[FOUR])
            # Killed while they are suspended: what they advertise goes on without them, and with the next bled.
            for name in ONE, TWO, FOUR:
                daemon.kill_app(name)
            hashed(lab, ONE, TWO)
            daemon.kill()
            air.revive(lab)
            daemon.start_again()
            hashed(lab, ONE, TWO)
            assert daemon.process_of(ONE) == 0, 'launched for nothing'
            # Launched again in the background, it does not start advertising, and is still in the mask.
            count = len(told(daemon, ONE, 'advertising'))
            launch(daemon, ONE)
            wait_for(daemon, ONE, 'willRestore')
            leave(daemon, ONE)
            hashed(lab, ONE, TWO)
            assert len(told(daemon, ONE, 'advertising')) == count, told(daemon, ONE)
            daemon.operate(quit=TWO)
            hashed(lab, ONE)


def test_overflow_area_of_all_apps():
    """the masks of several apps are one, without those that turn it off and without tools; it stays when apps and bled are killed"""
    joined('bumble')


def test_overflow_area_of_all_apps_over_btvirt():
    """the same over BlueZ's controllers: one mask of all apps that want it, also after kills of apps and of bled"""
    joined('btvirt')


def in_the_file(kind):
    with bench.Lab(kind, 3).open(peer=False) as lab:
        apps = [advertiser(ONE), advertiser(TWO, overflow='0x1234')]
        with Daemon(settings={'overflow': 'off'}, adapter=lab.endpoint, apps=apps) as daemon:
            begin(daemon, ONE, TWO)
            only_flags(lab)
            # The apps keep running: nobody has to be launched or restarted.
            daemon.reload({})
            hashed(lab, ONE)
            line = f'‘{TWO}’ adds nothing to the overflow area: ‘overflow’ of its manifest is 0x1234, and that of bled'
            assert line in daemon.said(), daemon.said()[-2000:]
            daemon.reload({'overflow': '0x1234'})
            hashed(lab, ONE, TWO, company='0x1234')
            daemon.reload({'overflow': 'no'})
            daemon.wait_said('‘overflow’ is ‘off’, ‘on’ or a company identifier')
            hashed(lab, ONE, TWO, company='0x1234')
            daemon.reload({'overflow': 'off'})
            only_flags(lab)


def test_overflow_area_in_the_file():
    """‘overflow’ of bled's file turns the area off or names its company, at SIGHUP also for what is on the air; no app names another one"""
    in_the_file('bumble')


def test_wrong_words_of_a_sample():
    """the sample hidden-service prints its usage and ends with 2 when its words are wrong"""
    for words in [], ['offer'], ['offer', 'battery'], ['find', '12'], ['seek', '180F']:
        done = ended(os.path.join(EXAMPLES, 'hidden-service'), *words)
        assert done.returncode == 2 and done.stdout.startswith('usage: '), done


def test_overflow_area_in_front():
    """an app of any user in the foreground, with too many services for the advertisement, is found by the last one, through bled"""
    with bench.Lab('bumble-answers', 3).open(peer=False) as lab:
        with Daemon(settings={}, adapter=lab.endpoint) as daemon, \
                daemon.app('hidden-service', 'offer', '--name', 'uynguyen', *air.MANY) as app:
            app.wait_for('advertising')
            line = air.heard(lab, air.MANY[1:], air.MANY[0])
            assert (line['name'], line['visible'], line['bits']) == ('uynguyen', [air.MANY[0].replace('-', '')], 4), line
            found = air.search(lab, air.MANY[4]).wait_for(lambda line: line.get('hashed'), 'a discovery')[0]
            assert (found['visible'], found['hashed']) == (air.MANY[0], air.MANY[4]), found
