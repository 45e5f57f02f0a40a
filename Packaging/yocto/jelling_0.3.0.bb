SUMMARY = "Bluetooth LE for small gateways: libjelling, ble-gw and ble-beacon"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/Apache-2.0;md5=89aea4e17d99a7cacdbeed46a0096b10"

# The folder that Tools/cross has built, such as /path/to/jelling/.build/cross/aarch64-linux-musl.
JELLING_PREBUILT ?= ""
COMPATIBLE_HOST = "(aarch64|arm|riscv64|x86_64).*-linux.*"

# The programs are static and stripped.
INSANE_SKIP:${PN} = "already-stripped"
INHIBIT_PACKAGE_DEBUG_SPLIT = "1"
INHIBIT_PACKAGE_STRIP = "1"
ALLOW_EMPTY:${PN}-staticdev = "1"

python () {
    if not d.getVar("JELLING_PREBUILT"):
        raise bb.parse.SkipRecipe("JELLING_PREBUILT must name the folder that Tools/cross has built")
}

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${bindir} ${D}${includedir} ${D}${libdir}/pkgconfig
    install -m 0755 ${JELLING_PREBUILT}/bin/* ${D}${bindir}/
    install -m 0644 ${JELLING_PREBUILT}/include/jelling.h ${JELLING_PREBUILT}/include/jelling-posix.h ${D}${includedir}/
    install -m 0644 ${JELLING_PREBUILT}/lib/libjelling.a ${JELLING_PREBUILT}/lib/libjelling-posix.a ${D}${libdir}/
    install -m 0644 ${JELLING_PREBUILT}/lib/pkgconfig/libjelling.pc ${JELLING_PREBUILT}/lib/pkgconfig/libjelling-posix.pc \
        ${D}${libdir}/pkgconfig/
}
