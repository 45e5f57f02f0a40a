################################################################################
#
# jelling
#
################################################################################

JELLING_VERSION = 0.3.0
JELLING_SITE = $(call qstrip,$(BR2_PACKAGE_JELLING_PREBUILT))
JELLING_SITE_METHOD = local
JELLING_LICENSE = Apache-2.0
JELLING_INSTALL_STAGING = YES

define JELLING_INSTALL_STAGING_CMDS
	mkdir -p $(STAGING_DIR)/usr/include $(STAGING_DIR)/usr/lib/pkgconfig
	cp $(@D)/include/*.h $(STAGING_DIR)/usr/include/
	cp $(@D)/lib/*.a $(STAGING_DIR)/usr/lib/
	cp $(@D)/lib/pkgconfig/*.pc $(STAGING_DIR)/usr/lib/pkgconfig/
endef

define JELLING_INSTALL_TARGET_CMDS
	mkdir -p $(TARGET_DIR)/usr/bin
	$(INSTALL) -m 0755 $(@D)/bin/* $(TARGET_DIR)/usr/bin/
endef

$(eval $(generic-package))
