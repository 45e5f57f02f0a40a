"""Where the programs are that the tests run: one place for these and for Tools.

`JELLING_PROGRAMS` names their folder. Without it, that is .build/debug, where `swift build` puts them; Tools/test runs its rings on
.build/released, which Tools/release --all fills with what people get. `BLETOOL`, `BLED`, `GATEWAY`, `BLED_BLUEZ` and `SIMULATED_CONTROLLERS` name
single programs, `EXAMPLES` the folder of the samples for Core Bluetooth."""
import os

ROOT = os.path.abspath(__file__).removesuffix('/Tests/System/jelling/programs.py')
RELEASED = os.path.join(ROOT, '.build', 'released')
LIBRARY = os.path.dirname(os.path.abspath(__file__))
DEBUG = os.path.join(ROOT, '.build', 'debug')
FOLDER = os.path.abspath(os.environ.get('JELLING_PROGRAMS') or DEBUG)
SINGLE = {'bletool': 'BLETOOL', 'bled': 'BLED', 'jelling-gateway': 'GATEWAY', 'simulated-controllers': 'SIMULATED_CONTROLLERS',
          'bled-bluez': 'BLED_BLUEZ'}


def path(name):
    return name in SINGLE and os.environ.get(SINGLE[name]) or os.path.join(EXAMPLES if name not in SINGLE else FOLDER, name)


def remedy(name):
    """What makes a program that is missing."""
    if FOLDER == RELEASED:
        return 'Tools/release --all'
    if FOLDER != DEBUG:
        return f'Tools/release --all, which fills .build/released (JELLING_PROGRAMS names {FOLDER})'
    variable = {'jelling-gateway': 'JELLING_GATEWAY=1 ', 'bled-bluez': 'JELLING_BLUEZ=1 '}.get(name, '')
    return f'{variable}swift build --product {name}'


EXAMPLES = os.environ.get('EXAMPLES') or FOLDER
BLETOOL, BLED, GATEWAY, CONTROLLERS, BLUEZ = (path(name) for name in SINGLE)
PEER_SCRIPTS = os.path.join(ROOT, 'Tools', 'peers')
# Where Tools/install has put them.
PEERS = os.environ.get('PEERS_DIR') or os.path.join(ROOT, '.cache', 'peers')
PYTHON = os.path.join(PEERS, 'venv', 'bin', 'python')
BTVIRT = os.path.join(PEERS, 'btroot', 'usr', 'bin', 'btvirt')
# The modules, which documentation and the programs in it are compiled against: of the build for tests, which has them all.
BUILDS = [os.path.join(ROOT, '.build', build, 'Modules') for build in ('static/release', 'debug')]
MODULES = next((build for build in BUILDS if os.path.exists(os.path.join(build, 'CoreBluetoothTestKit.swiftmodule'))), BUILDS[0])
