/// The bits of masks that have names: the table's name, then number and name of each bit, from the lowest on.
///
/// LMP features: Core 5.4, Vol 2, Part C, 3.3; LE features: Vol 6, Part B, 4.6.
enum MaskLines {
    static let text: StaticString = """
        lefeatures|0 LE Encryption|1 Connection Parameters Request|2 Extended Reject Indication|3 Peripheral-initiated Features Exchange|4 LE Ping|5 Data Packet Length Extension|6 LL Privacy|7 Extended Scanning Filter Policies|8 LE 2M PHY|9 Stable Modulation Index (transmitter)|a Stable Modulation Index (receiver)|b LE Coded PHY|c Extended Advertising|d Periodic Advertising|e Channel Selection Algorithm #2|f Power Class 1|10 Minimum Number of Used Channels|11 Connection CTE Request|12 Connection CTE Response|13 Connectionless CTE Transmitter|14 Connectionless CTE Receiver|15 Antenna Switching (AoD)|16 Antenna Switching (AoA)|17 Receiving CTE|18 Periodic Advertising Sync Transfer (sender)|19 Periodic Advertising Sync Transfer (recipient)|1a Sleep Clock Accuracy Updates|1b Remote Public Key Validation|1c CIS Central|1d CIS Peripheral|1e Isochronous Broadcaster|1f Synchronized Receiver|20 CIS (host)|21 Power Control Request|22 Power Control Request (second bit)|23 Path Loss Monitoring|24 Periodic Advertising ADI|25 Connection Subrating|26 Connection Subrating (host)|27 Channel Classification|28 Advertising Coding Selection|29 Advertising Coding Selection (host)|2a Decision-Based Advertising Filtering|2b PAwR Advertiser|2c PAwR Scanner|2d Unsegmented Framed Mode|2e Channel Sounding|2f Channel Sounding (host)|30 Channel Sounding Tone Quality|3f LL Extended Feature Set|40 Monitoring Advertisers|41 Frame Space Update
        lmpfeatures|0 3-slot packets|1 5-slot packets|2 encryption|3 slot offset|4 timing accuracy|5 role switch|6 hold mode|7 sniff mode|9 power control requests|a CQDDR|b SCO|c HV2|d HV3|e µ-law|f A-law|10 CVSD|11 paging parameter negotiation|12 power control|13 transparent synchronous data|17 broadcast encryption|19 EDR ACL 2 Mb/s|1a EDR ACL 3 Mb/s|1b enhanced inquiry scan|1c interlaced inquiry scan|1d interlaced page scan|1e RSSI with inquiry results|1f EV3|20 EV4|21 EV5|23 AFH capable peripheral|24 AFH classification peripheral|25 BR/EDR not supported|26 LE|27 3-slot EDR ACL|28 5-slot EDR ACL|29 sniff subrating|2a pause encryption|2b AFH capable central|2c AFH classification central|2d EDR eSCO 2 Mb/s|2e EDR eSCO 3 Mb/s|2f 3-slot EDR eSCO|30 extended inquiry response|31 simultaneous LE and BR/EDR|33 secure simple pairing|34 encapsulated PDU|35 erroneous data reporting|36 non-flushable packets|38 link supervision timeout changed event|39 inquiry TX power level|3a enhanced power control|3f extended features
        l2features|0 flow control mode|1 retransmission mode|2 bi-directional QoS|3 enhanced retransmission mode|4 streaming mode|5 FCS option|6 extended flow specification|7 fixed channels|8 extended window size|9 connectionless data|a enhanced credit based flow control
        l2channels|1 signalling|2 connectionless|3 AMP manager|4 ATT|5 LE signalling|6 SMP|7 SMP over BR/EDR|3f AMP test
        authentication|0 bonding|2 MITM|3 secure connections|4 keypress|5 CT2
        keys|0 encryption key|1 identity|2 signing|3 link key
        advchannels|0 37|1 38|2 39
        phymask|0 LE 1M|1 LE 2M|2 LE Coded
        allphys|0 any TX PHY|1 any RX PHY
        advproperties|0 connectable|1 scannable|2 directed|3 high duty cycle|4 legacy|5 anonymous|6 TX power|7 decision PDU|8 decision PDU with AdvA|9 decision PDU with ADI
        periodicproperties|6 TX power
        spacings|0 IFS ACL CP|1 IFS ACL PC|2 MCES|3 IFS CIS|4 MSS CIS
        """
}
