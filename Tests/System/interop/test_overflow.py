"""The overflow area of apps: what is in the background, or finds no room, is found by its service, by an app and by a scanner of
foreign make that computes the bits itself."""
import json, os, pathlib, signal, time

from pytest import mark

from jelling.child import PATIENCE
from interop.test_app import needs
from interop.test_kill import kill

KINDS = ('bumble', 'bumble-legacy', 'btvirt', 'simulator')
# Bumble's own air has no scan responses.
ANSWERING_KINDS = ('bumble-answers', 'bumble-answers-legacy', 'btvirt', 'simulator')
BATTERY, HIDDEN, OTHER = '180F', '6B7A0101-9D1C-4F5E-8A2B-3C4D5E6F7081', '180A'
MANY = [f'6B7A02{number:02X}-9D1C-4F5E-8A2B-3C4D5E6F7081' for number in range(5)]
APPLE, OWN = '0x004C', '0xFFFF'


def manifest(lab, **more):
    path = lab.path('manifest.json')
    pathlib.Path(path).write_text(json.dumps({'BundleIdentifier': 'org.example.hidden', 'UIBackgroundModes': ['bluetooth-peripheral'], **more}))
    return path


def revive(lab):
    """btvirt does not always outlive a client that goes away without a word; the others open a new one again."""
    if lab.kind == 'btvirt' and lab.btvirt.process.poll() is not None:
        lab.start_btvirt()


def offer(lab, *words, restores=False, **variables):
    needs('hidden-service')
    revive(lab)
    app = lab.app('hidden-service', 'offer', *words, JELLING_MANIFEST=manifest(lab), **variables)
    if not restores:
        app.wait_event('advertising')
    return app


def scanner(lab, *words, number=1):
    """Bumble's lines of a scan; more rounds, because btvirt reports an advertiser once each time that scanning is switched on."""
    revive(lab)
    return lab.finish(lab.bumble('overflow_scanner', lab.endpoints[number], *words, is_ready=False))


def heard(lab, wanted, *others, company=APPLE, number=1):
    """Bumble's last line when exactly `wanted` are hashed, of these and the others."""
    end = time.monotonic() + PATIENCE
    while True:
        words = ('--seconds', '3', '--company', company, '--until', ','.join(wanted))
        result = scanner(lab, *words, '--services', ','.join([*wanted, *others]), number=number)
        if result.status == 0:
            return [line for line in result.lines if line['ev'] == 'advertiser'][-1]
        assert time.monotonic() < end, f'{wanted} not hashed: ' + result.describe()


def search(lab, *words, number=2):
    """Another app that looks for services."""
    needs('hidden-service')
    revive(lab)
    return lab.app('hidden-service', 'find', *words, number=number, state='finder')


def finds_nothing(lab, *words, seconds=3):
    app = search(lab, *words)
    time.sleep(seconds)
    assert [line for line in app.lines if line['event'] == 'discovered'] == []
    app.end(signal.SIGKILL)


@mark.lab(KINDS, peer=False, endpoints=3)
def test_app_in_the_background_is_found(lab):
    """An app that goes to the background is found by its services: Bumble finds their bits and no name, another app connects by one"""
    offer(lab, '--background', '--name', 'Hidden', BATTERY, HIDDEN)
    line = heard(lab, [BATTERY, HIDDEN], OTHER)
    assert (line['name'], line['visible'], line['bits']) == ('', [], 2)
    app = search(lab, '--connect', HIDDEN)
    found = app.wait_event('discovered')[0]
    assert (found['visible'], found['hashed']) == ('', HIDDEN)
    assert app.wait_event('services')[0]['uuids'] == HIDDEN
    app.wait_event('disconnected')
    app.end(signal.SIGKILL)
    # A scan for what it does not offer, and whose bit is another one.
    finds_nothing(lab, OTHER)


@mark.lab(KINDS, peer=False, endpoints=3)
def test_app_turns_the_overflow_area_off(lab):
    """JELLING_OVERFLOW or the manifest turns the overflow area off, or takes another company than Apple's"""
    app = offer(lab, '--background', BATTERY, JELLING_OVERFLOW='off')
    end = time.monotonic() + PATIENCE
    while True:
        lines = [line for line in scanner(lab, '--seconds', '2', '--services', BATTERY).lines if line['ev'] == 'advertiser']
        if lines and not lines[-1]['visible']:
            break
        assert time.monotonic() < end, f'it does not go to the background: {lines}'
    assert lines[-1]['bits'] == 0
    assert lines[-1]['data'].startswith('020106') and not lines[-1]['data'].replace('020106', ''), f'more than flags: {lines[-1]}'
    finds_nothing(lab, BATTERY)
    kill(app)
    # Launched again in the background, it goes on with what the variable says now.
    app = offer(lab, BATTERY, restores=True, JELLING_OVERFLOW=OWN, CB_LAUNCH_PERIPHERALS='offer')
    assert heard(lab, [BATTERY], company=OWN)['bits'] == 1
    assert [line['bits'] for line in scanner(lab, '--seconds', '2', '--services', BATTERY).lines if line.get('bits')] == []
    kill(app)
    # Without the variable, the manifest.
    revive(lab)
    app = lab.app('hidden-service', 'offer', BATTERY, JELLING_MANIFEST=manifest(lab, overflow='0x1234', initialState='background'))
    assert heard(lab, [BATTERY], company='0x1234')['bits'] == 1


@mark.lab(ANSWERING_KINDS, peer=False, endpoints=3, through_bled=True)
def test_services_without_room_are_hashed(lab):
    """An app in the foreground with too many services shows the first; Bumble finds the bits of the others, another app finds one"""
    offer(lab, '--name', 'uynguyen', *MANY)
    line = heard(lab, MANY[1:], MANY[0], OTHER)
    assert (line['name'], line['visible'], line['bits']) == ('uynguyen', [MANY[0].replace('-', '')], 4)
    app = search(lab, MANY[3])
    found = app.wait_for(lambda line: line.get('hashed'), 'a discovery')[0]
    assert (found['name'], found['visible'], found['hashed']) == ('uynguyen', MANY[0], MANY[3])
    app.end(signal.SIGKILL)


@mark.lab(ANSWERING_KINDS, peer=False, through_bled=True)
def test_name_has_ten_octets(lab):
    """When services fill the advertisement, a name has ten octets of the scan response, and eight beside the overflow area"""
    services = [f'FE{number:02X}' for number in range(14)]
    for count, name in (13, 'Thermomete'), (14, 'Thermome'):
        app = offer(lab, '--name', 'Thermometer', *services[:count])
        lines = [line for line in scanner(lab, '--seconds', '3', '--services', ','.join(services)).lines if line['ev'] == 'advertiser']
        assert lines, 'nothing was heard'
        assert (lines[-1]['name'], len(lines[-1]['visible']), lines[-1]['bits']) == (name, 13, count - 13)
        app.end(signal.SIGTERM)
        # The next one begins anew.
        for folder, _, files in os.walk(lab.path('app-state0')):
            for file in files:
                os.unlink(os.path.join(folder, file))


@mark.lab(('bumble', 'btvirt', 'simulator'), peer=False, endpoints=3)
def test_overflow_area_is_restored(lab):
    """An app that is killed in the background and launched again there advertises its services in the overflow area as before"""
    app = offer(lab, '--background', BATTERY, HIDDEN)
    heard(lab, [BATTERY, HIDDEN], OTHER)
    for _ in range(2):
        kill(app)
        app = offer(lab, '--background', OTHER, restores=True, CB_LAUNCH_PERIPHERALS='offer')
        assert app.wait_event('willRestore')[0]['services'] == f'{BATTERY},{HIDDEN}'
        line = heard(lab, [BATTERY, HIDDEN], OTHER)
        assert (line['name'], line['visible'], line['bits']) == ('', [], 2)
        assert [line for line in app.lines if line['event'] == 'advertising'] == []
    found = search(lab, BATTERY).wait_event('discovered')[0]
    assert (found['visible'], found['hashed']) == ('', BATTERY)
