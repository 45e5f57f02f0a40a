"""Where the programs are that the tests run: one place for all of Tools.

`JELLING_PROGRAMS` names their folder. Without it, that is .build/debug, where `swift build` puts them; Tools/test runs its rings on
.build/released, which Tools/release --all fills with what people get. `BLETOOL`, `BLED`, `GATEWAY` and `SIMULATED_CONTROLLERS` name
single programs, `EXAMPLES` the folder of the samples for Core Bluetooth."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RELEASED = os.path.join(ROOT, '.build', 'released')
FOLDER = os.path.abspath(os.environ.get('JELLING_PROGRAMS') or os.path.join(ROOT, '.build', 'debug'))
SINGLE = {'bletool': 'BLETOOL', 'bled': 'BLED', 'jelling-gateway': 'GATEWAY', 'simulated-controllers': 'SIMULATED_CONTROLLERS'}


def path(name):
    return name in SINGLE and os.environ.get(SINGLE[name]) or os.path.join(SAMPLES if name not in SINGLE else FOLDER, name)


def remedy(name):
    """What makes a program that is missing."""
    if FOLDER == RELEASED:
        return 'Tools/release --all'
    return ('JELLING_GATEWAY=1 ' if name == 'jelling-gateway' else '') + f'swift build --product {name}'


SAMPLES = os.environ.get('EXAMPLES') or FOLDER
BLETOOL, BLED, GATEWAY, CONTROLLERS = (path(name) for name in SINGLE)
# The modules, which documentation and the programs in it are compiled against: of the build for tests, which has them all.
BUILDS = [os.path.join(ROOT, '.build', build, 'Modules') for build in ('static/release', 'debug')]
MODULES = next((build for build in BUILDS if os.path.exists(os.path.join(build, 'CoreBluetoothTestKit.swiftmodule'))), BUILDS[0])
