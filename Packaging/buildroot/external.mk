include $(sort $(wildcard $(BR2_EXTERNAL_JELLING_PATH)/jelling/*.mk))
