// Captures of HCI traffic: btsnoop, pcap, pcapng and PacketLogger files, read and written as streams.
