"""Debian's packages, also of another processor, fetched into a cache and unpacked there. Nothing is installed, and root is not needed."""
import glob, os, re, shutil, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEARCHED = ('lib', 'usr/lib')


def run(*command, **how):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
    if done.returncode:
        raise SystemExit(f'{" ".join(command)[:200]} ended with status {done.returncode}: {done.stderr.strip()[-800:]}')
    return done.stdout


def apt_options(lists, *more):
    """apt-get's lists in a place of their own: the machine's stay as they are."""
    os.makedirs(lists + '/partial', exist_ok=True)
    return ['-qq', '-o', f'Dir::State::Lists={lists}', '-o', 'Dir::Cache::pkgcache=', '-o', 'Dir::Cache::srcpkgcache=',
            '-o', 'Acquire::Languages=none', '-o', 'APT::Sandbox::User=root', *more]


def of_architecture(architecture):
    return ['-o', f'APT::Architecture={architecture}', '-o', f'APT::Architectures={architecture}', '-o', 'Dir::State::status=/dev/null']


class Packages:
    """Those of one architecture, by its name at Debian, and the folder in which they are unpacked."""

    def __init__(self, cache, architecture):
        self.architecture, self.folder = architecture, os.path.join(cache, architecture)
        self.root, self.archives = os.path.join(self.folder, 'root'), os.path.join(self.folder, 'debs')
        self.options = apt_options(os.path.join(self.folder, 'lists'), *of_architecture(architecture))
        self.triplet = {'arm64': 'aarch64-linux-gnu', 'amd64': 'x86_64-linux-gnu'}[architecture]

    def unpack(self, names):
        """Into the folder, unless exactly these are there."""
        mark = os.path.join(self.folder, 'unpacked')
        if os.path.exists(mark) and open(mark).read().split() == names:
            return
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.archives, exist_ok=True)
        # A mirror that is being synchronised may miss one list of several; whether the packages can be had shows next.
        subprocess.run(['apt-get', *self.options, 'update'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in names:
            if not self.archive(name):
                run('apt-get', *self.options, 'download', self.real(name), cwd=self.archives)
            run('dpkg-deb', '--extract', self.archive(name), self.root)
        with open(mark, 'w') as file:
            file.write('\n'.join(names))

    def archive(self, name):
        if name.startswith('linux-image-'):
            name = name.replace('image-', 'image-[0-9]*-')
        found = glob.glob(f'{self.archives}/{name}_*.deb')
        return found[0] if found else None

    def real(self, name):
        """A package of a kernel's name stands for that of a version."""
        found = re.search(r'^ *Depends: (linux-image-\S+)$', run('apt-cache', *self.options, 'depends', name), re.M) if name.startswith('linux-image-') else None
        return found[1] if found else name

    @property
    def release(self):
        """The kernel's."""
        return os.path.basename(self.kernel).removeprefix('vmlinuz-')

    @property
    def kernel(self):
        return glob.glob(f'{self.root}/boot/vmlinuz-*')[0]

    # Programs and libraries

    def program(self, path):
        return os.path.join(self.root, path)

    def library(self, name):
        for folder in SEARCHED:
            for place in (f'{folder}/{self.triplet}', folder):
                path = os.path.join(self.root, place, name)
                if os.path.exists(path):
                    return path
        raise SystemExit(f'Tools/image: no package in its list brings {name}')

    def libraries(self, program):
        """(path in an image, file) of what a program is linked with, the loader and the libraries' own libraries included."""
        found, waiting = {}, [program]
        while waiting:
            read = run('readelf', '--wide', '--dynamic', '--program-headers', waiting.pop())
            for interpreter in re.findall(r'interpreter: (\S+)\]', read):
                found[interpreter.lstrip('/')] = self.library(os.path.basename(interpreter))
            for name in re.findall(r'\(NEEDED\).*\[(.+)\]', read):
                path = f'usr/lib/{name}'
                if path not in found and not any(os.path.basename(place) == name for place in found):
                    found[path] = self.library(name)
                    waiting.append(found[path])
        return found.items()

    def modules(self, names):
        """(path in an image, file) of modules of the kernel, with those that they need, and of the tables of modprobe."""
        release = self.release
        run('depmod', '-b', self.root, release)
        found = {}
        for name in names:
            done = subprocess.run(['modprobe', '-d', self.root, '-S', release, '--show-depends', name], text=True, capture_output=True)
            if done.returncode:
                raise SystemExit(f'Tools/image: the kernel {release} has no module {name}: {done.stderr.strip()}')
            for path in re.findall(r'^insmod (\S+)', done.stdout, re.M):
                found['lib/modules/' + path.partition('/lib/modules/')[2]] = path
        alone = os.path.join(self.folder, 'modules')
        shutil.rmtree(alone, ignore_errors=True)
        for name in ('order', 'builtin', 'builtin.modinfo'):
            path = f'lib/modules/{release}/modules.{name}'
            found[path] = os.path.join(self.root, path)
        for place, path in found.items():
            os.makedirs(os.path.dirname(os.path.join(alone, place)), exist_ok=True)
            os.link(path, os.path.join(alone, place))
        run('depmod', '-b', alone, release)
        tables = {f'lib/modules/{release}/modules.{name}' for name in ('dep', 'alias', 'softdep', 'symbols')}
        return {**found, **{place: os.path.join(alone, place) for place in tables}}


def qemu(cache, emulator):
    """The command of an emulator: the machine's own, or one that is unpacked into the cache."""
    if path := shutil.which(emulator):
        return [path], {}
    root = os.path.join(cache, 'qemu')
    lib = f'{root}/usr/lib/x86_64-linux-gnu'
    path = f'{root}/usr/bin/{emulator}'
    if not os.path.exists(path):
        raise SystemExit(f'{emulator} is missing: Tools/install image')
    return ([path, '-L', f'{root}/usr/share/qemu', '-L', f'{root}/usr/share/seabios', '-L', f'{root}/usr/lib/ipxe/qemu'],
            {'LD_LIBRARY_PATH': f'{lib}:{root}/lib/x86_64-linux-gnu', 'QEMU_MODULE_DIR': f'{lib}/qemu'})


def fetch_qemu(cache):
    names = {'qemu-system-aarch64': 'qemu-system-arm', 'qemu-system-x86_64': 'qemu-system-x86'}
    wanted = [package for emulator, package in names.items() if not shutil.which(emulator)]
    root = os.path.join(cache, 'qemu')
    if not wanted or os.path.exists(f'{root}/done'):
        return
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(f'{root}/debs')
    shown = run('apt-get', 'install', '-y', '--no-install-recommends', '--print-uris', '-o', 'Debug::NoLocking=1', *wanted)
    names = re.findall(r"^'.*' ([^ _]+)_", shown, re.M)
    run('apt-get', 'download', '-qq', *names, cwd=f'{root}/debs')
    for archive in glob.glob(f'{root}/debs/*.deb'):
        run('dpkg-deb', '--extract', archive, root)
    shutil.rmtree(f'{root}/debs')
    open(f'{root}/done', 'w').close()
