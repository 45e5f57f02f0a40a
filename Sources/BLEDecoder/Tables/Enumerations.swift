/// The values of fields that have names: the table's name, then number and name of each value.
enum EnumerationLines {
    static let text: StaticString = """
        role|0 central|1 peripheral
        addr|0 public|1 random|2 public identity|3 random identity|fe random, cannot be resolved|ff anonymous
        own|0 public|1 random|2 resolvable, else public|3 resolvable, else random
        scan|0 passive|1 active
        onoff|0 off|1 on
        dup|0 off|1 on|2 on, reset each period
        phy|0 none|1 LE 1M|2 LE 2M|3 LE Coded
        encryption|0 off|1 on|2 on with AES-CCM
        link|0 SCO|1 ACL|2 eSCO
        io|0 DisplayOnly|1 DisplayYesNo|2 KeyboardOnly|3 NoInputNoOutput|4 KeyboardDisplay
        oob|0 not present|1 present
        pagescan|0 none|1 inquiry|2 page|3 inquiry and page
        version|0 1.0b|1 1.1|2 1.2|3 2.0 + EDR|4 2.1 + EDR|5 3.0 + HS|6 4.0|7 4.1|8 4.2|9 5.0|a 5.1|b 5.2|c 5.3|d 5.4|e 6.0|f 6.1
        privacy|0 network|1 device
        ifp|0 peer address|1 accept list
        sfp|0 all|1 accept list|2 all, directed to resolvable|3 accept list, directed to resolvable
        afp|0 all|1 scan from accept list|2 connect from accept list|3 accept list
        accuracy|0 500 ppm|1 250 ppm|2 150 ppm|3 100 ppm|4 75 ppm|5 50 ppm|6 30 ppm|7 20 ppm
        csa|0 algorithm #1|1 algorithm #2
        dataop|0 intermediate fragment|1 first fragment|2 last fragment|3 complete|4 unchanged
        mode|0 active|1 hold|2 sniff
        advparam|0 ADV_IND|1 ADV_DIRECT_IND, high duty cycle|2 ADV_SCAN_IND|3 ADV_NONCONN_IND|4 ADV_DIRECT_IND, low duty cycle
        advtype|0 ADV_IND|1 ADV_DIRECT_IND|2 ADV_SCAN_IND|3 ADV_NONCONN_IND|4 SCAN_RSP
        exttype|13 ADV_IND, legacy|15 ADV_DIRECT_IND, legacy|12 ADV_SCAN_IND, legacy|10 ADV_NONCONN_IND, legacy|1b SCAN_RSP to ADV_IND, legacy|1a SCAN_RSP to ADV_SCAN_IND, legacy|0 non-connectable|1 connectable|2 scannable|5 connectable, directed|9 connectable, scan response|a scannable, scan response
        phys|1 LE 1M|2 LE 2M|4 LE Coded|3 LE 1M, LE 2M|5 LE 1M, LE Coded|7 LE 1M, LE 2M, LE Coded
        sid|ff none
        smpfail|1 passkey entry failed|2 OOB not available|3 authentication requirements|4 confirm value failed|5 pairing not supported|6 encryption key size|7 command not supported|8 unspecified reason|9 repeated attempts|a invalid parameters|b DHKey check failed|c numeric comparison failed|d BR/EDR pairing in progress|e cross-transport key derivation not allowed|f key rejected
        keypress|0 entry started|1 digit entered|2 digit erased|3 cleared|4 entry completed
        reject|0 command not understood|1 signalling MTU exceeded|2 invalid channel
        accept|0 accepted|1 rejected
        connresult|0 success|1 pending|2 PSM not supported|3 security block|4 no resources|6 invalid source channel|7 source channel already in use
        creditresult|0 success|2 SPSM not supported|4 no resources|5 insufficient authentication|6 insufficient authorization|7 encryption key size too short|8 insufficient encryption|9 invalid source channel|a source channel already in use|b unacceptable parameters
        ecreditresult|0 success|2 SPSM not supported|4 some refused, no resources|5 insufficient authentication|6 insufficient authorization|7 encryption key size too short|8 insufficient encryption|9 some refused, invalid source channel|a some refused, source channel already in use|b unacceptable parameters|c invalid parameters|d pending|e authentication pending|f authorization pending
        channelmode|0 basic|1 retransmission|2 flow control|3 enhanced retransmission|4 streaming
        fcstype|0 none|1 16-bit
        servicetype|0 no traffic|1 best effort|2 guaranteed
        configresult|0 success|1 unacceptable parameters|2 rejected|3 unknown options|4 pending
        reconfresult|0 success|1 MTU reduced|2 MPS reduced|3 invalid channel|4 unacceptable parameters
        infotype|1 connectionless MTU|2 extended features|3 fixed channels
        inforesult|0 success|1 not supported
        psm|1 SDP|3 RFCOMM|f BNEP|11 HID control|13 HID interrupt|17 AVCTP|19 AVDTP|1b AVCTP browsing|1f ATT|25 IPSP|27 EATT
        execute|0 cancel|1 write
        """
}

/// Error codes of controllers, in words (Core 5.4, Vol 1, Part F, 1.3).
enum ErrorCodeLines {
    static let text: StaticString = """
        status|0 success|1 unknown command|2 unknown connection|3 hardware failure|4 page timeout|5 authentication failure|6 PIN or key missing|7 memory capacity exceeded|8 connection timeout|9 connection limit exceeded|a synchronous connection limit exceeded|b connection already exists|c command disallowed|d rejected for limited resources|e rejected for security|f rejected for an unacceptable address|10 connection accept timeout|11 unsupported feature or parameter value|12 invalid command parameters|13 remote user terminated the connection|14 remote device is low on resources|15 remote device powers off|16 connection terminated by the local host|17 repeated attempts|18 pairing not allowed|19 unknown LMP PDU|1a unsupported remote feature|1b SCO offset rejected|1c SCO interval rejected|1d SCO air mode rejected|1e invalid LL parameters|1f unspecified error|20 unsupported LL parameter value|21 role change not allowed|22 link layer response timeout|23 link layer procedure collision|24 LMP PDU not allowed|25 encryption mode not acceptable|26 link key cannot be changed|27 requested QoS not supported|28 instant passed|29 pairing with unit key not supported|2a different transaction collision|2c QoS unacceptable parameter|2d QoS rejected|2e channel classification not supported|2f insufficient security|30 parameter out of mandatory range|32 role switch pending|34 reserved slot violation|35 role switch failed|36 extended inquiry response too large|37 secure simple pairing not supported by host|38 host busy with pairing|39 rejected, no suitable channel|3a controller busy|3b unacceptable connection parameters|3c advertising timeout|3d connection terminated due to MIC failure|3e connection failed to be established|40 coarse clock adjustment rejected|41 type 0 submap not defined|42 unknown advertising identifier|43 limit reached|44 operation cancelled by host|45 packet too long|46 too late|47 too early|48 insufficient channels
        atterror|1 Invalid Handle|2 Read Not Permitted|3 Write Not Permitted|4 Invalid PDU|5 Insufficient Authentication|6 Request Not Supported|7 Invalid Offset|8 Insufficient Authorization|9 Prepare Queue Full|a Attribute Not Found|b Attribute Not Long|c Encryption Key Size Too Short|d Invalid Attribute Value Length|e Unlikely Error|f Insufficient Encryption|10 Unsupported Group Type|11 Insufficient Resources|12 Database Out Of Sync|13 Value Not Allowed|fc Write Request Rejected|fd Client Characteristic Configuration Descriptor Improperly Configured|fe Procedure Already in Progress|ff Out of Range
        """
}

/// PDUs of ATT, SMP and the signalling channels, in the form that `PacketTables` reads.
///
/// ATT's are read by code of their own, for what they tell depends on what went before: here they have names only.
enum ProtocolLines {
    static let att: StaticString = """
        01Error Response|*
        02Exchange MTU Request|Client RX MTU:u2
        03Exchange MTU Response|Server RX MTU:u2
        04Find Information Request|*
        05Find Information Response|*
        06Find By Type Value Request|*
        07Find By Type Value Response|*
        08Read By Type Request|*
        09Read By Type Response|*
        0aRead Request|*
        0bRead Response|*
        0cRead Blob Request|*
        0dRead Blob Response|*
        0eRead Multiple Request|*
        0fRead Multiple Response|*
        10Read By Group Type Request|*
        11Read By Group Type Response|*
        12Write Request|*
        13Write Response|
        16Prepare Write Request|*
        17Prepare Write Response|*
        18Execute Write Request|Flags:u1=execute
        19Execute Write Response|
        1bHandle Value Notification|*
        1dHandle Value Indication|*
        1eHandle Value Confirmation|
        20Read Multiple Variable Request|*
        21Read Multiple Variable Response|*
        23Multiple Handle Value Notification|*
        52Write Command|*
        d2Signed Write Command|*
        """

    static let smp: StaticString = """
        01Pairing Request|IO Capability:u1=io;OOB Data:u1=oob;Authentication Requirements:b1=authentication;Maximum Encryption Key Size:u1;Initiator Key Distribution:b1=keys;Responder Key Distribution:b1=keys
        02Pairing Response|IO Capability:u1=io;OOB Data:u1=oob;Authentication Requirements:b1=authentication;Maximum Encryption Key Size:u1;Initiator Key Distribution:b1=keys;Responder Key Distribution:b1=keys
        03Pairing Confirm|Confirm Value:h16
        04Pairing Random|Random Value:s16
        05Pairing Failed|Reason:u1=smpfail
        06Encryption Information|Long Term Key:s16
        07Central Identification|Encrypted Diversifier:x2;Random Number:h8
        08Identity Information|Identity Resolving Key:s16
        09Identity Address Information|Address Type:u1=addr;Address:a
        0aSigning Information|Signature Key:s16
        0bSecurity Request|Authentication Requirements:b1=authentication
        0cPairing Public Key|Public Key X:h32;Public Key Y:h32
        0dPairing DHKey Check|DHKey Check:h16
        0eKeypress Notification|Notification Type:u1=keypress
        """

    static let signalling: StaticString = """
        01Command Reject|Reason:u2=reject;Data:*
        02Connection Request|PSM:u2=psm;Source CID:x2
        03Connection Response|Destination CID:x2;Source CID:x2;Result:u2=connresult;Status:u2
        04Configuration Request|Destination CID:x2;Flags:x2;Options:O
        05Configuration Response|Source CID:x2;Flags:x2;Result:u2=configresult;Options:O
        06Disconnection Request|Destination CID:x2;Source CID:x2
        07Disconnection Response|Destination CID:x2;Source CID:x2
        08Echo Request|Data:*
        09Echo Response|Data:*
        0aInformation Request|Type:u2=infotype
        0bInformation Response|Type:u2=infotype;Result:u2=inforesult;Data:*
        0cCreate Channel Request|PSM:u2=psm;Source CID:x2;Controller ID:u1
        0dCreate Channel Response|Destination CID:x2;Source CID:x2;Result:u2=connresult;Status:u2
        0eMove Channel Request|Initiator CID:x2;Destination Controller ID:u1
        0fMove Channel Response|Initiator CID:x2;Result:u2
        10Move Channel Confirmation|Initiator CID:x2;Result:u2
        11Move Channel Confirmation Response|Initiator CID:x2
        12Connection Parameter Update Request|Interval Min:m1250;Interval Max:m1250;Latency:u2;Timeout:m10000
        13Connection Parameter Update Response|Result:u2=accept
        14LE Credit Based Connection Request|SPSM:u2=psm;Source CID:x2;MTU:u2;MPS:u2;Initial Credits:u2
        15LE Credit Based Connection Response|Destination CID:x2;MTU:u2;MPS:u2;Initial Credits:u2;Result:u2=creditresult
        16Flow Control Credit|CID:x2;Credits:u2
        17Credit Based Connection Request|SPSM:u2=psm;MTU:u2;MPS:u2;Initial Credits:u2;Source CIDs:C
        18Credit Based Connection Response|MTU:u2;MPS:u2;Initial Credits:u2;Result:u2=ecreditresult;Destination CIDs:C
        19Credit Based Reconfigure Request|MTU:u2;MPS:u2;Destination CIDs:C
        1aCredit Based Reconfigure Response|Result:u2=reconfresult
        """

    /// Core 5.4, Vol 3, Part A, 5.
    static let channelOptions: StaticString = """
        01Maximum Transmission Unit|MTU:u2
        02Flush Timeout|Flush Timeout:m1000
        03Quality of Service|Flags:x1;Service Type:u1=servicetype;Token Rate:u4;Token Bucket Size:u4;Peak Bandwidth:u4;Latency:u4;Delay Variation:u4
        04Retransmission and Flow Control|Mode:u1=channelmode;TX Window Size:u1;Max Transmit:u1;Retransmission Timeout:m1000;Monitor Timeout:m1000;MPS:u2
        05Frame Check Sequence|FCS Type:u1=fcstype
        06Extended Flow Specification|Identifier:u1;Service Type:u1=servicetype;Maximum SDU Size:u2;SDU Inter-arrival Time:u4;Access Latency:u4;Flush Timeout:u4
        07Extended Window Size|Max Window Size:u2
        """
}
