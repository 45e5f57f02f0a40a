"""Carries out the recipes of Packaging/ with stand-ins for what OpenWrt, Buildroot and BitBake bring, so that a mistake in
one shows where no SDK is: each must install the same files, for images and for those who compile against the library."""
import ast, functools, io, os, re, shutil, subprocess, tarfile, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECIPES = os.path.join(ROOT, 'Packaging')

OPENWRT_RULES = '''SHELL := /bin/sh
INSTALL_DIR := install -d -m0755
INSTALL_BIN := install -m0755
CP := cp -fpR
INCLUDE_DIR := $(TOPDIR)/include
PKG_BUILD_DIR := $(TOPDIR)/build_dir/jelling
'''
# As in OpenWrt, the steps are canned recipes, and what names the package is set by evaluating its definition.
OPENWRT_PACKAGE = '''define BuildPackage
$(eval $(call Package/$(1)))
all:
	$$(call Build/Prepare)
	$$(call Build/Configure)
	$$(call Build/Compile)
	$$(call Build/InstallDev,$$(TOPDIR)/staging)
	$$(call Package/$(1)/install,$$(TOPDIR)/image)
	@echo 'Package: $(PKG_NAME)' >$$(TOPDIR)/control
	@echo 'Version: $(PKG_VERSION)-r$(PKG_RELEASE)' >>$$(TOPDIR)/control
	@echo 'Depends: $(patsubst +%,%,$(filter +%,$(DEPENDS)))' >>$$(TOPDIR)/control
	@echo 'License: $(PKG_LICENSE)' >>$$(TOPDIR)/control
	@echo 'Section: $(SECTION)' >>$$(TOPDIR)/control
	@echo 'Description: $(TITLE)' >>$$(TOPDIR)/control
endef
'''
BUILDROOT = '''qstrip = $(strip $(subst ",,$(1)))
INSTALL := install
define generic-package
$(BUILD_DIR)/jelling-$(JELLING_VERSION)/.stamp:
	mkdir -p $$(@D)
	cp -R $(JELLING_SITE)/. $$(@D)/
	$$(JELLING_INSTALL_STAGING_CMDS)
	$$(JELLING_INSTALL_TARGET_CMDS)
all: $(BUILD_DIR)/jelling-$(JELLING_VERSION)/.stamp
endef
include $(BR2_EXTERNAL_JELLING_PATH)/external.mk
'''


def run(*command, **how):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode:
        raise ValueError(f'{" ".join(command)}\n{done.stdout}')
    return done.stdout


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)


def installed(*folders):
    return sorted(os.path.relpath(os.path.join(base, name), folder) for folder in folders
                  for base, _, names in os.walk(folder) for name in names)


def openwrt(prebuilt, work):
    write(f'{work}/rules.mk', OPENWRT_RULES)
    write(f'{work}/include/package.mk', OPENWRT_PACKAGE)
    shutil.copytree(f'{RECIPES}/openwrt', f'{work}/package/jelling')
    command = ['make', '-s', '-C', f'{work}/package/jelling', f'TOPDIR={work}']
    refused = subprocess.run([*command, 'JELLING_PREBUILT='], capture_output=True, text=True)
    if refused.returncode == 0 or 'JELLING_PREBUILT must name' not in refused.stderr:
        raise ValueError(f'without a folder: {refused.stderr}')
    run(*command, f'JELLING_PREBUILT={prebuilt}')
    return [f'{work}/image', f'{work}/staging']


def ipk(work):
    """An ipk of the files for the image: an archive of an archive of data and one of what is known about it."""
    def packed(folder=None, **texts):
        octets = io.BytesIO()
        with tarfile.open(fileobj=octets, mode='w:gz') as archive:
            if folder:
                archive.add(folder, '.')
            for name, data in texts.items():
                entry = tarfile.TarInfo('./' + name.replace('_tar_gz', '.tar.gz').replace('_', '-'))
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
        return octets.getvalue()
    with open(f'{work}/control', 'rb') as f:
        control = f.read()
    whole = packed(debian_binary=b'2.0\n', control_tar_gz=packed(control=control), data_tar_gz=packed(f'{work}/image'))
    write(f'{work}/jelling.ipk', '')
    with open(f'{work}/jelling.ipk', 'wb') as f:
        f.write(whole)
    outer = run('tar', 'tzf', f'{work}/jelling.ipk').split()
    inner = run('sh', '-c', f'tar xzOf {work}/jelling.ipk ./data.tar.gz | tar tzf -').split()
    return outer, inner, control.decode()


def buildroot(prebuilt, work):
    write(f'{work}/Makefile', BUILDROOT)
    run('make', '-s', '-C', work, 'all', f'BR2_EXTERNAL_JELLING_PATH={RECIPES}/buildroot', f'BUILD_DIR={work}/build',
        f'BR2_PACKAGE_JELLING_PREBUILT="{prebuilt}"', f'STAGING_DIR={work}/staging', f'TARGET_DIR={work}/image')
    blocks = 0
    for name in ('Config.in', 'jelling/Config.in'):
        with open(f'{RECIPES}/buildroot/{name}') as f:
            for line in f:
                word = line.split()[0] if line.strip() else ''
                known = {'source', 'config', 'bool', 'string', 'depends', 'help', 'if', 'endif', ''}
                if word not in known and not line.startswith('\t  '):
                    raise ValueError(f'{name}: {line}')
                blocks += {'if': 1, 'endif': -1}.get(word, 0)
    if blocks:
        raise ValueError('Config.in: if without endif')
    return [f'{work}/image', f'{work}/staging']


def yocto(prebuilt, work):
    """Reads the recipe as BitBake does, and runs its do_install with dash."""
    [name] = os.listdir(f'{RECIPES}/yocto')
    with open(f'{RECIPES}/yocto/{name}') as f:
        text = f.read()
    values = {'D': f'{work}/image', 'bindir': '/usr/bin', 'includedir': '/usr/include', 'libdir': '/usr/lib',
              'JELLING_PREBUILT': prebuilt, 'PN': 'jelling', 'COMMON_LICENSE_DIR': ''}
    functions = {}
    for head, body in re.findall(r'^(python \(\)|\w+\(\)) \{\n(.*?)^\}\n', text, re.S | re.M):
        functions[head] = body
    rest = re.sub(r'^(?:python \(\)|\w+\(\)) \{\n.*?^\}\n', '', text, flags=re.S | re.M)
    for line in rest.splitlines():
        if line.strip() and not line.startswith('#') and not re.fullmatch(
                r'[\w:${}-]+(?:\[\w+\])? *(?:\?{1,2}=|[:+.]?=) *"[^"]*"', line):
            raise ValueError(f'{name}: {line}')
    ast.parse('def recipe(d, bb):\n' + functions['python ()'])
    script = re.sub(r'\$\{(\w+)\}', lambda m: values[m[1]], functions['do_install()'])
    write(f'{work}/do_install', 'set -e\n' + script)
    run('sh', '-n', f'{work}/do_install')
    run('sh', f'{work}/do_install')
    return [f'{work}/image']


def programs(prebuilt):
    return [f'usr/bin/{name}' for name in os.listdir(f'{prebuilt}/bin')]


def installs_all(recipe, prebuilt):
    """(whether it is good, why not)"""
    wanted = sorted(programs(prebuilt) + [f'usr/include/{name}' for name in ('jelling.h', 'jelling-posix.h')] + [
        f'usr/lib/{name}' for name in ('libjelling.a', 'libjelling-posix.a', 'pkgconfig/libjelling.pc',
                                       'pkgconfig/libjelling-posix.pc')])
    with tempfile.TemporaryDirectory() as work:
        found = installed(*recipe(prebuilt, work))
    return found == wanted, f'{found}\nwant {wanted}'


def ipk_is_whole(prebuilt):
    """(whether it is good, why not)"""
    with tempfile.TemporaryDirectory() as work:
        openwrt(prebuilt, work)
        outer, inner, control = ipk(work)
    files = sorted(name.removeprefix('./') for name in inner if not name.endswith('/'))
    is_good = (outer == ['./debian-binary', './control.tar.gz', './data.tar.gz'] and files == sorted(programs(prebuilt))
               and 'Depends: kmod-bluetooth\n' in control)
    return is_good, f'{outer}\n{inner}\n{control}'


PROGRAM = '''#include <jelling-posix.h>
#include <stdio.h>
int main(void) {
    puts(jelling_status_text(0));
    return jelling_version() >> 8 != (JELLING_VERSION_MAJOR << 8 | JELLING_VERSION_MINOR);
}
'''


def debian_packages_compile():
    """A program is built with what libjelling-dev installs, and runs with libjelling0: (whether it is good, why not)"""
    architecture = run('dpkg', '--print-architecture').strip()
    triplet = run('dpkg-architecture', '-qDEB_HOST_MULTIARCH').strip()
    with tempfile.TemporaryDirectory() as work:
        run(f'{ROOT}/Tools/package', '--fast', '--programs', 'none', '--libraries', architecture, '--output', f'{work}/release')
        for name in os.listdir(f'{work}/release/pool'):
            run('dpkg-deb', '-x', f'{work}/release/pool/{name}', f'{work}/root')
        lib = f'{work}/root/usr/lib/{triplet}'
        write(f'{work}/program.c', PROGRAM)
        environment = {**os.environ, 'PKG_CONFIG_LIBDIR': f'{lib}/pkgconfig', 'PKG_CONFIG_SYSROOT_DIR': f'{work}/root'}
        flags = run('pkg-config', '--cflags', '--libs', 'libjelling', env=environment).split()
        run('cc', f'{work}/program.c', '-o', f'{work}/program', *flags)
        said = run(f'{work}/program', env={**os.environ, 'LD_LIBRARY_PATH': lib})
        needed = run('readelf', '-d', f'{work}/program')
        # Of the static library, with the loop.
        flags = run('pkg-config', '--cflags', '--libs', '--static', 'libjelling-posix', env=environment).split()
        run('cc', '-static', f'{work}/program.c', '-o', f'{work}/static', *flags)
        alone = run(f'{work}/static')
    return said == alone != '' and '[libjelling.so.0]' in needed, f'{said}\n{alone}\n{needed}'


def all_cases(prebuilt):
    """(what, case) of each recipe."""
    for recipe in (openwrt, buildroot, yocto):
        yield (f'the recipe for {recipe.__name__} installs programs, headers and libraries',
               functools.partial(installs_all, recipe, prebuilt))
    yield 'an ipk has its parts', functools.partial(ipk_is_whole, prebuilt)
    yield 'programs are built with the Debian packages', debian_packages_compile
