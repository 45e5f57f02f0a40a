/// Commands: opcode, name, parameters, return parameters, a line each, in the form that `PacketTables` reads (Core 5.4, Vol 4, Part E, 7).
enum HCICommandLines {
    static let text: StaticString = #"""
        0401Inquiry|LAP:x3;Inquiry Length:u1;Num Responses:u1|
        0402Inquiry Cancel||Status:st
        0403Periodic Inquiry Mode|*|
        0404Exit Periodic Inquiry Mode|*|
        0405Create Connection|BD_ADDR:a;Packet Type:x2;Page Scan Repetition Mode:u1;Reserved:u1;Clock Offset:x2;Allow Role Switch:u1|
        0406Disconnect|Connection Handle:ch;Reason:st|
        0408Create Connection Cancel|BD_ADDR:a|Status:st;BD_ADDR:a
        0409Accept Connection Request|BD_ADDR:a;Role:u1=role|
        040aReject Connection Request|BD_ADDR:a;Reason:st|
        040bLink Key Request Reply|BD_ADDR:a;Link Key:s16|Status:st;BD_ADDR:a
        040cLink Key Request Negative Reply|BD_ADDR:a|Status:st;BD_ADDR:a
        040dPIN Code Request Reply|BD_ADDR:a;PIN Code Length:u1;PIN Code:s16|Status:st;BD_ADDR:a
        040ePIN Code Request Negative Reply|BD_ADDR:a|Status:st;BD_ADDR:a
        040fChange Connection Packet Type|Connection Handle:ch;Packet Type:x2|
        0411Authentication Requested|Connection Handle:ch|
        0413Set Connection Encryption|Connection Handle:ch;Encryption Enable:u1=onoff|
        0415Change Connection Link Key|Connection Handle:ch|
        0417Link Key Selection|*|
        0419Remote Name Request|BD_ADDR:a;Page Scan Repetition Mode:u1;Reserved:u1;Clock Offset:x2|
        041aRemote Name Request Cancel|BD_ADDR:a|Status:st;BD_ADDR:a
        041bRead Remote Supported Features|Connection Handle:ch|
        041cRead Remote Extended Features|Connection Handle:ch;Page Number:u1|
        041dRead Remote Version Information|Connection Handle:ch|
        041fRead Clock Offset|Connection Handle:ch|
        0420Read LMP Handle|*|
        0428Setup Synchronous Connection|Connection Handle:ch;Transmit Bandwidth:u4;Receive Bandwidth:u4;Maximum Latency:u2;Voice Setting:x2;Retransmission Effort:u1;Packet Type:x2|
        0429Accept Synchronous Connection Request|BD_ADDR:a;Transmit Bandwidth:u4;Receive Bandwidth:u4;Maximum Latency:u2;Voice Setting:x2;Retransmission Effort:u1;Packet Type:x2|
        042aReject Synchronous Connection Request|BD_ADDR:a;Reason:st|
        042bIO Capability Request Reply|BD_ADDR:a;IO Capability:u1=io;OOB Data Present:u1;Authentication Requirements:u1|Status:st;BD_ADDR:a
        042cUser Confirmation Request Reply|BD_ADDR:a|Status:st;BD_ADDR:a
        042dUser Confirmation Request Negative Reply|BD_ADDR:a|Status:st;BD_ADDR:a
        042eUser Passkey Request Reply|BD_ADDR:a;Numeric Value:s4|Status:st;BD_ADDR:a
        042fUser Passkey Request Negative Reply|BD_ADDR:a|Status:st;BD_ADDR:a
        0430Remote OOB Data Request Reply|BD_ADDR:a;C:s16;R:s16|Status:st;BD_ADDR:a
        0433Remote OOB Data Request Negative Reply|BD_ADDR:a|Status:st;BD_ADDR:a
        0434IO Capability Request Negative Reply|BD_ADDR:a;Reason:st|Status:st;BD_ADDR:a
        043dEnhanced Setup Synchronous Connection|Connection Handle:ch;Transmit Bandwidth:u4;Receive Bandwidth:u4;Transmit Coding Format:h5;Receive Coding Format:h5;Transmit Codec Frame Size:u2;Receive Codec Frame Size:u2;Input Bandwidth:u4;Output Bandwidth:u4;Input Coding Format:h5;Output Coding Format:h5;Input Coded Data Size:u2;Output Coded Data Size:u2;Input Pcm Data Format:u1;Output Pcm Data Format:u1;Input Pcm Sample Payload Msb Position:u1;Output Pcm Sample Payload Msb Position:u1;Input Data Path:u1;Output Data Path:u1;Input Transport Unit Size:u1;Output Transport Unit Size:u1;Maximum Latency:u2;Packet Type:x2;Retransmission Effort:u1|
        043eEnhanced Accept Synchronous Connection Request|BD_ADDR:a;Transmit Bandwidth:u4;Receive Bandwidth:u4;Transmit Coding Format:h5;Receive Coding Format:h5;Transmit Codec Frame Size:u2;Receive Codec Frame Size:u2;Input Bandwidth:u4;Output Bandwidth:u4;Input Coding Format:h5;Output Coding Format:h5;Input Coded Data Size:u2;Output Coded Data Size:u2;Input Pcm Data Format:u1;Output Pcm Data Format:u1;Input Pcm Sample Payload Msb Position:u1;Output Pcm Sample Payload Msb Position:u1;Input Data Path:u1;Output Data Path:u1;Input Transport Unit Size:u1;Output Transport Unit Size:u1;Maximum Latency:u2;Packet Type:x2;Retransmission Effort:u1|
        043fTruncated Page|BD_ADDR:a;Page Scan Repetition Mode:u1;Clock Offset:x2|
        0440Truncated Page Cancel|BD_ADDR:a|Status:st;BD_ADDR:a
        0441Set Connectionless Peripheral Broadcast|Enable:u1=onoff;LT_ADDR:u1;LPO Allowed:u1;Packet Type:x2;Interval Min:m1250;Interval Max:m1250;Supervision Timeout:m10000|Status:st;LT_ADDR:u1;Interval:u2
        0442Set Connectionless Peripheral Broadcast Receive|Enable:u1=onoff;BD_ADDR:a;LT_ADDR:u1;Interval:u2;Clock Offset:x4;Next Connectionless Peripheral Broadcast Clock:u4;Supervision Timeout:m10000;Remote Timing Accuracy:u1;Skip:u1;Packet Type:x2;AFH Channel Map:B10=@numbers|Status:st;BD_ADDR:a;LT_ADDR:u1
        0443Start Synchronization Train||
        0444Receive Synchronization Train|BD_ADDR:a;Sync Scan Timeout:u2;Sync Scan Window:u2;Sync Scan Interval:u2|
        0445Remote OOB Extended Data Request Reply|BD_ADDR:a;C 192:s16;R 192:s16;C 256:s16;R 256:s16|Status:st
        0801Hold Mode|*|
        0803Sniff Mode|Connection Handle:ch;Sniff Max Interval:u2;Sniff Min Interval:u2;Sniff Attempt:u2;Sniff Timeout:u2|
        0804Exit Sniff Mode|Connection Handle:ch|
        0807QoS Setup|*|
        0809Role Discovery|Connection Handle:ch|Status:st;Connection Handle:ch;Current Role:u1=role
        080bSwitch Role|BD_ADDR:a;Role:u1=role|
        080cRead Link Policy Settings|Connection Handle:ch|Status:st;Connection Handle:ch;Link Policy Settings:x2
        080dWrite Link Policy Settings|Connection Handle:ch;Link Policy Settings:x2|Status:st;Connection Handle:ch
        080eRead Default Link Policy Settings||Status:st;Default Link Policy Settings:x2
        080fWrite Default Link Policy Settings|Default Link Policy Settings:x2|Status:st
        0810Flow Specification|*|
        0811Sniff Subrating|Connection Handle:ch;Maximum Latency:u2;Minimum Remote Timeout:u2;Minimum Local Timeout:u2|Status:st;Connection Handle:ch
        0c01Set Event Mask|Event Mask:B8=@events1|Status:st
        0c03Reset||Status:st
        0c05Set Event Filter|Filter Type:u1;Filter Condition:*|Status:st
        0c08Flush|Connection Handle:ch|Status:st;Connection Handle:ch
        0c09Read PIN Type|*|
        0c0aWrite PIN Type|*|
        0c0dRead Stored Link Key|BD_ADDR:a;Read All Flag:u1|Status:st;Max Num Keys:u2;Num Keys Read:u2
        0c11Write Stored Link Key|Link Keys:S|Status:st;Num Keys Written:u1
        0c12Delete Stored Link Key|BD_ADDR:a;Delete All Flag:u1|Status:st;Num Keys Deleted:u2
        0c13Write Local Name|Local Name:n248|Status:st
        0c14Read Local Name||Status:st;Local Name:n248
        0c15Read Connection Accept Timeout|*|
        0c16Write Connection Accept Timeout|Connection Accept Timeout:m625|Status:st
        0c17Read Page Timeout|*|
        0c18Write Page Timeout|Page Timeout:m625|Status:st
        0c19Read Scan Enable||Status:st;Scan Enable:u1=pagescan
        0c1aWrite Scan Enable|Scan Enable:u1=pagescan|Status:st
        0c1bRead Page Scan Activity||Status:st;Page Scan Interval:u2;Page Scan Window:u2
        0c1cWrite Page Scan Activity|Page Scan Interval:u2;Page Scan Window:u2|Status:st
        0c1dRead Inquiry Scan Activity|*|
        0c1eWrite Inquiry Scan Activity|Inquiry Scan Interval:u2;Inquiry Scan Window:u2|Status:st
        0c1fRead Authentication Enable||Status:st;Authentication Enable:u1=onoff
        0c20Write Authentication Enable|Authentication Enable:u1=onoff|Status:st
        0c23Read Class of Device||Status:st;Class of Device:x3
        0c24Write Class of Device|Class of Device:x3|Status:st
        0c25Read Voice Setting||Status:st;Voice Setting:x2
        0c26Write Voice Setting|Voice Setting:x2|Status:st
        0c27Read Automatic Flush Timeout|*|
        0c28Write Automatic Flush Timeout|*|
        0c29Read Num Broadcast Retransmissions|*|
        0c2aWrite Num Broadcast Retransmissions|*|
        0c2bRead Hold Mode Activity|*|
        0c2cWrite Hold Mode Activity|*|
        0c2dRead Transmit Power Level|Connection Handle:ch;Type:u1|Status:st;Connection Handle:ch;TX Power Level:d1
        0c2eRead Synchronous Flow Control Enable||Status:st;Synchronous Flow Control Enable:u1
        0c2fWrite Synchronous Flow Control Enable|Synchronous Flow Control Enable:u1|Status:st
        0c31Set Controller to Host Flow Control|Flow Control Enable:u1=onoff|Status:st
        0c33Host Buffer Size|Host ACL Data Packet Length:u2;Host Synchronous Data Packet Length:u1;Host Total Num ACL Data Packets:u2;Host Total Num Synchronous Data Packets:u2|Status:st
        0c35Host Number of Completed Packets|[Handles~Connection Handle:ch;Num Completed Packets:u2]|
        0c36Read Link Supervision Timeout|Connection Handle:ch|Status:st;Connection Handle:ch;Link Supervision Timeout:m625
        0c37Write Link Supervision Timeout|Connection Handle:ch;Link Supervision Timeout:m625|Status:st;Connection Handle:ch
        0c38Read Number of Supported IAC||Status:st;Num Support IAC:u1
        0c39Read Current IAC LAP||Status:st;[LAPs~IAC LAP:x3]
        0c3aWrite Current IAC LAP|[LAPs~IAC LAP:x3]|Status:st
        0c3fSet AFH Host Channel Classification|AFH Host Channel Classification:h10|Status:st
        0c42Read Inquiry Scan Type|*|
        0c43Write Inquiry Scan Type|Scan Type:u1|Status:st
        0c44Read Inquiry Mode||Status:st;Inquiry Mode:u1
        0c45Write Inquiry Mode|Inquiry Mode:u1|Status:st
        0c46Read Page Scan Type||Status:st;Page Scan Type:u1
        0c47Write Page Scan Type|Page Scan Type:u1|Status:st
        0c48Read AFH Channel Assessment Mode|*|
        0c49Write AFH Channel Assessment Mode|*|
        0c51Read Extended Inquiry Response||Status:st;FEC Required:u1;Extended Inquiry Response:A240
        0c52Write Extended Inquiry Response|FEC Required:u1;Extended Inquiry Response:A240|Status:st
        0c53Refresh Encryption Key|Connection Handle:ch|
        0c55Read Simple Pairing Mode||Status:st;Simple Pairing Mode:u1=onoff
        0c56Write Simple Pairing Mode|Simple Pairing Mode:u1=onoff|Status:st
        0c57Read Local OOB Data||Status:st;C:s16;R:s16
        0c58Read Inquiry Response Transmit Power Level||Status:st;TX Power:d1
        0c59Write Inquiry Transmit Power Level|*|
        0c5aRead Default Erroneous Data Reporting||Status:st;Erroneous Data Reporting:u1
        0c5bWrite Default Erroneous Data Reporting|*|
        0c5fEnhanced Flush|*|
        0c60Send Keypress Notification|BD_ADDR:a;Notification Type:u1|Status:st;BD_ADDR:a
        0c63Set Event Mask Page 2|Event Mask Page 2:B8=@events64|Status:st
        0c66Read Flow Control Mode|*|
        0c67Write Flow Control Mode|*|
        0c68Read Enhanced Transmit Power Level|*|
        0c6cRead LE Host Support||Status:st;LE Supported Host:u1=onoff;Unused:u1
        0c6dWrite LE Host Support|LE Supported Host:u1=onoff;Simultaneous LE Host:u1|Status:st
        0c6eSet MWS Channel Parameters|*|
        0c6fSet External Frame Configuration|*|
        0c70Set MWS Signaling|*|
        0c71Set MWS Transport Layer|*|
        0c72Set MWS Scan Frequency Table|*|
        0c73Set MWS Pattern Configuration|*|
        0c74Set Reserved LT_ADDR|*|
        0c75Delete Reserved LT_ADDR|*|
        0c76Set Connectionless Peripheral Broadcast Data|*|
        0c77Read Synchronization Train Parameters|*|
        0c78Write Synchronization Train Parameters|*|
        0c79Read Secure Connections Host Support||Status:st;Secure Connections Host Support:u1=onoff
        0c7aWrite Secure Connections Host Support|Secure Connections Host Support:u1=onoff|Status:st
        0c7bRead Authenticated Payload Timeout|Connection Handle:ch|Status:st;Connection Handle:ch;Authenticated Payload Timeout:m10000
        0c7cWrite Authenticated Payload Timeout|Connection Handle:ch;Authenticated Payload Timeout:m10000|Status:st;Connection Handle:ch
        0c7dRead Local OOB Extended Data||Status:st;C 192:s16;R 192:s16;C 256:s16;R 256:s16
        0c7eRead Extended Page Timeout|*|
        0c7fWrite Extended Page Timeout|*|
        0c80Read Extended Inquiry Length|*|
        0c81Write Extended Inquiry Length|*|
        0c82Set Ecosystem Base Interval|*|
        0c83Configure Data Path|Data Path Direction:u1;Data Path ID:u1;Vendor Specific Config:*|Status:st
        0c84Set Min Encryption Key Size|Minimum Encryption Key Size:u1|Status:st
        1001Read Local Version Information||Status:st;HCI Version:u1=version;HCI Subversion:x2;LMP Version:u1=version;Company Identifier:u2=company;LMP Subversion:x2
        1002Read Local Supported Commands||Status:st;Supported Commands:B64
        1003Read Local Supported Features||Status:st;LMP Features:B8=lmpfeatures
        1004Read Local Extended Features|Page Number:u1|Status:st;Page Number:u1;Maximum Page Number:u1;Extended LMP Features:B8
        1005Read Buffer Size||Status:st;HC ACL Data Packet Length:u2;HC Synchronous Data Packet Length:u1;HC Total Num ACL Data Packets:u2;HC Total Num Synchronous Data Packets:u2
        1009Read BD_ADDR||Status:st;BD_ADDR:a
        100aRead Data Block Size|*|
        100bRead Local Supported Codecs||Status:st;[Standard Codecs~Standard Codec IDs:u1];[Vendor Codecs~Vendor Specific Codec IDs:u4]
        100cRead Local Simple Pairing Options|*|
        100dRead Local Supported Codecs [v2]||Status:st;[Standard Codecs~Standard Codec IDs:u1;Standard Codec Transports:u1];[Vendor Codecs~Vendor Specific Codec IDs:u4;Vendor Specific Codec Transports:u1]
        100eRead Local Supported Codec Capabilities|*|
        100fRead Local Supported Controller Delay|*|
        1401Read Failed Contact Counter|*|
        1402Reset Failed Contact Counter|*|
        1403Read Link Quality|Connection Handle:ch|Status:st;Connection Handle:ch;Link Quality:u1
        1405Read RSSI|Handle:ch|Status:st;Handle:ch;RSSI:d1
        1406Read AFH Channel Map|Connection Handle:ch|Status:st;Connection Handle:ch;AFH Mode:u1;AFH Channel Map:B10=@numbers
        1407Read Clock|Connection Handle:ch;Which Clock:u1|Status:st;Connection Handle:ch;Clock:u4;Accuracy:u2
        1408Read Encryption Key Size|Connection Handle:ch|Status:st;Connection Handle:ch;Key Size:u1
        140cGet MWS Transport Layer Configuration|*|
        140dSet Triggered Clock Capture|*|
        1801Read Loopback Mode||Status:st;Loopback Mode:u1
        1802Write Loopback Mode|Loopback Mode:u1|Status:st
        1803Enable Device Under Test Mode|*|
        1804Write Simple Pairing Debug Mode|*|
        180aWrite Secure Connections Test Mode|*|
        2001LE Set Event Mask|LE Event Mask:B8=@subevents1|Status:st
        2002LE Read Buffer Size [v1]||Status:st;LE ACL Data Packet Length:u2;Total Num LE ACL Data Packets:u1
        2003LE Read Local Supported Features||Status:st;LE Features:B8=lefeatures
        2005LE Set Random Address|Random Address:a|Status:st
        2006LE Set Advertising Parameters|Advertising Interval Min:m625;Advertising Interval Max:m625;Advertising Type:u1=advparam;Own Address Type:u1=own;Peer Address Type:u1=addr;Peer Address:a;Advertising Channel Map:b1=advchannels;Advertising Filter Policy:u1=afp|Status:st
        2007LE Read Advertising Physical Channel TX Power||Status:st;TX Power Level:d1
        2008LE Set Advertising Data|Advertising Data:F31|Status:st
        2009LE Set Scan Response Data|Scan Response Data:F31|Status:st
        200aLE Set Advertising Enable|Advertising Enable:u1=onoff|Status:st
        200bLE Set Scan Parameters|LE Scan Type:u1=scan;LE Scan Interval:m625;LE Scan Window:m625;Own Address Type:u1=own;Scanning Filter Policy:u1=sfp|Status:st
        200cLE Set Scan Enable|LE Scan Enable:u1=onoff;Filter Duplicates:u1=dup|Status:st
        200dLE Create Connection|LE Scan Interval:m625;LE Scan Window:m625;Initiator Filter Policy:u1=ifp;Peer Address Type:u1=addr;Peer Address:a;Own Address Type:u1=own;Connection Interval Min:m1250;Connection Interval Max:m1250;Maximum Latency:u2;Supervision Timeout:m10000;Minimum CE Length:m625;Maximum CE Length:m625|
        200eLE Create Connection Cancel||Status:st
        200fLE Read Filter Accept List Size||Status:st;Filter Accept List Size:u1
        2010LE Clear Filter Accept List||Status:st
        2011LE Add Device to Filter Accept List|Address Type:u1=addr;Address:a|Status:st
        2012LE Remove Device from Filter Accept List|Address Type:u1=addr;Address:a|Status:st
        2013LE Connection Update|Connection Handle:ch;Connection Interval Min:m1250;Connection Interval Max:m1250;Maximum Latency:u2;Supervision Timeout:m10000;Minimum CE Length:m625;Maximum CE Length:m625|
        2014LE Set Host Channel Classification|LE Channel Map:B5=@numbers|Status:st
        2015LE Read Channel Map|Connection Handle:ch|Status:st;Connection Handle:ch;LE Channel Map:B5=@numbers
        2016LE Read Remote Features|Connection Handle:ch|
        2017LE Encrypt|Key:s16;Plaintext Data:s16|Status:st;Encrypted Data:s16
        2018LE Rand||Status:st;Random Number:s8
        2019LE Enable Encryption|Connection Handle:ch;Random Number:h8;Encrypted Diversifier:x2;Long Term Key:s16|
        201aLE Long Term Key Request Reply|Connection Handle:ch;Long Term Key:s16|Status:st;Connection Handle:ch
        201bLE Long Term Key Request Negative Reply|Connection Handle:ch|Status:st;Connection Handle:ch
        201cLE Read Supported States||Status:st;LE States:B8
        201dLE Receiver Test|RX Channel:u1|Status:st
        201eLE Transmitter Test|TX Channel:u1;Test Data Length:u1;Packet Payload:u1|Status:st
        201fLE Test End||Status:st;Num Packets:u2
        2020LE Remote Connection Parameter Request Reply|Connection Handle:ch;Interval Min:m1250;Interval Max:m1250;Maximum Latency:u2;Timeout:m10000;Minimum CE Length:m625;Maximum CE Length:m625|Status:st;Connection Handle:ch
        2021LE Remote Connection Parameter Request Negative Reply|Connection Handle:ch;Reason:st|Status:st;Connection Handle:ch
        2022LE Set Data Length|Connection Handle:ch;TX Octets:u2;TX Time:u2|Status:st;Connection Handle:ch
        2023LE Read Suggested Default Data Length||Status:st;Suggested Max TX Octets:u2;Suggested Max TX Time:u2
        2024LE Write Suggested Default Data Length|Suggested Max TX Octets:u2;Suggested Max TX Time:u2|Status:st
        2025LE Read Local P-256 Public Key||
        2026LE Generate DHKey|Remote P-256 Public Key:h64|
        2027LE Add Device to Resolving List|Peer Identity Address Type:u1=addr;Peer Identity Address:a;Peer IRK:s16;Local IRK:s16|Status:st
        2028LE Remove Device from Resolving List|Peer Identity Address Type:u1=addr;Peer Identity Address:a|Status:st
        2029LE Clear Resolving List||Status:st
        202aLE Read Resolving List Size||Status:st;Resolving List Size:u1
        202bLE Read Peer Resolvable Address|Peer Identity Address Type:u1=addr;Peer Identity Address:a|Status:st;Peer Resolvable Address:a
        202cLE Read Local Resolvable Address|Peer Identity Address Type:u1=addr;Peer Identity Address:a|Status:st;Local Resolvable Address:a
        202dLE Set Address Resolution Enable|Address Resolution Enable:u1=onoff|Status:st
        202eLE Set Resolvable Private Address Timeout|RPA Timeout:u2|Status:st
        202fLE Read Maximum Data Length||Status:st;Supported Max TX Octets:u2;Supported Max TX Time:u2;Supported Max RX Octets:u2;Supported Max RX Time:u2
        2030LE Read PHY|Connection Handle:ch|Status:st;Connection Handle:ch;TX PHY:u1=phy;RX PHY:u1=phy
        2031LE Set Default PHY|All PHYs:b1=allphys;TX PHYs:b1=phymask;RX PHYs:b1=phymask|Status:st
        2032LE Set PHY|Connection Handle:ch;All PHYs:b1=allphys;TX PHYs:b1=phymask;RX PHYs:b1=phymask;PHY Options:x2|
        2033LE Receiver Test [v2]|*|
        2034LE Transmitter Test [v2]|*|
        2035LE Set Advertising Set Random Address|Advertising Handle:u1;Random Address:a|Status:st
        2036LE Set Extended Advertising Parameters|Advertising Handle:u1;Advertising Event Properties:b2=advproperties;Primary Advertising Interval Min:w625;Primary Advertising Interval Max:w625;Primary Advertising Channel Map:b1=advchannels;Own Address Type:u1=own;Peer Address Type:u1=addr;Peer Address:a;Advertising Filter Policy:u1=afp;Advertising TX Power:d1;Primary Advertising PHY:u1=phy;Secondary Advertising Max Skip:u1;Secondary Advertising PHY:u1=phy;Advertising SID:u1;Scan Request Notification Enable:u1=onoff|Status:st;Selected TX Power:d1
        2037LE Set Extended Advertising Data|Advertising Handle:u1;Operation:u1=dataop;Fragment Preference:u1;Advertising Data:V|Status:st
        2038LE Set Extended Scan Response Data|Advertising Handle:u1;Operation:u1=dataop;Fragment Preference:u1;Scan Response Data:V|Status:st
        2039LE Set Extended Advertising Enable|Enable:u1=onoff;[Sets~Advertising Handle:u1;Duration:m10000;Maximum Extended Advertising Events:u1]|Status:st
        203aLE Read Maximum Advertising Data Length||Status:st;Max Advertising Data Length:u2
        203bLE Read Number of Supported Advertising Sets||Status:st;Num Supported Advertising Sets:u1
        203cLE Remove Advertising Set|Advertising Handle:u1|Status:st
        203dLE Clear Advertising Sets||Status:st
        203eLE Set Periodic Advertising Parameters|Advertising Handle:u1;Periodic Advertising Interval Min:m1250;Periodic Advertising Interval Max:m1250;Periodic Advertising Properties:b2=periodicproperties|Status:st
        203fLE Set Periodic Advertising Data|Advertising Handle:u1;Operation:u1=dataop;Advertising Data:V|Status:st
        2040LE Set Periodic Advertising Enable|Enable:u1=onoff;Advertising Handle:u1|Status:st
        2041LE Set Extended Scan Parameters|Own Address Type:u1=own;Scanning Filter Policy:u1=sfp;Scanning PHYs:x1=phys;{PHYs~Scan Type:u1=scan;Scan Interval:m625;Scan Window:m625}|Status:st
        2042LE Set Extended Scan Enable|Enable:u1=onoff;Filter Duplicates:u1=dup;Duration:m10000;Period:u2|Status:st
        2043LE Extended Create Connection|Initiator Filter Policy:u1=ifp;Own Address Type:u1=own;Peer Address Type:u1=addr;Peer Address:a;Initiating PHYs:x1=phys;{PHYs~Scan Interval:m625;Scan Window:m625;Connection Interval Min:m1250;Connection Interval Max:m1250;Maximum Latency:u2;Supervision Timeout:m10000;Minimum CE Length:m625;Maximum CE Length:m625}|
        2044LE Periodic Advertising Create Sync|Options:x1;Advertising SID:u1;Advertiser Address Type:u1=addr;Advertiser Address:a;Skip:u2;Sync Timeout:m10000;Sync CTE Type:u1|
        2045LE Periodic Advertising Create Sync Cancel||Status:st
        2046LE Periodic Advertising Terminate Sync|Sync Handle:u2|Status:st
        2047LE Add Device to Periodic Advertiser List|Advertiser Address Type:u1=addr;Advertiser Address:a;Advertising SID:u1|Status:st
        2048LE Remove Device from Periodic Advertiser List|Advertiser Address Type:u1=addr;Advertiser Address:a;Advertising SID:u1|Status:st
        2049LE Clear Periodic Advertiser List||Status:st
        204aLE Read Periodic Advertiser List Size||Status:st;Periodic Advertiser List Size:u1
        204bLE Read Transmit Power||Status:st;Minimum TX Power:d1;Maximum TX Power:d1
        204cLE Read RF Path Compensation||Status:st;RF TX Path Compensation:i2;RF RX Path Compensation:i2
        204dLE Write RF Path Compensation|RF TX Path Compensation:i2;RF RX Path Compensation:i2|Status:st
        204eLE Set Privacy Mode|Peer Identity Address Type:u1=addr;Peer Identity Address:a;Privacy Mode:u1=privacy|Status:st
        204fLE Receiver Test [v3]|*|
        2050LE Transmitter Test [v3]|*|
        2051LE Set Connectionless CTE Transmit Parameters|*|
        2052LE Set Connectionless CTE Transmit Enable|*|
        2053LE Set Connectionless IQ Sampling Enable|*|
        2054LE Set Connection CTE Receive Parameters|*|
        2055LE Set Connection CTE Transmit Parameters|*|
        2056LE Connection CTE Request Enable|*|
        2057LE Connection CTE Response Enable|*|
        2058LE Read Antenna Information|*|
        2059LE Set Periodic Advertising Receive Enable|Sync Handle:u2;Enable:u1=onoff|Status:st
        205aLE Periodic Advertising Sync Transfer|Connection Handle:ch;Service Data:u2;Sync Handle:u2|Status:st;Connection Handle:ch
        205bLE Periodic Advertising Set Info Transfer|Connection Handle:ch;Service Data:u2;Advertising Handle:u1|Status:st;Connection Handle:ch
        205cLE Set Periodic Advertising Sync Transfer Parameters|Connection Handle:ch;Mode:u1;Skip:u2;Sync Timeout:m10000;CTE Type:u1|Status:st;Connection Handle:ch
        205dLE Set Default Periodic Advertising Sync Transfer Parameters|Mode:u1;Skip:u2;Sync Timeout:m10000;CTE Type:u1|Status:st
        205eLE Generate DHKey [v2]|Remote P-256 Public Key:h64;Key Type:u1|
        205fLE Modify Sleep Clock Accuracy|Action:u1|Status:st
        2060LE Read Buffer Size [v2]||Status:st;LE ACL Data Packet Length:u2;Total Num LE ACL Data Packets:u1;ISO Data Packet Length:u2;Total Num ISO Data Packets:u1
        2061LE Read ISO TX Sync|Connection Handle:ch|Status:st;Connection Handle:ch;Packet Sequence Number:u2;TX Time Stamp:u4;Time Offset:u4
        2062LE Set CIG Parameters|CIG ID:u1;SDU Interval C to P:u3;SDU Interval P to C:u3;Worst Case SCA:u1;Packing:u1;Framing:u1;Max Transport Latency C to P:u2;Max Transport Latency P to C:u2;[CISes~CIS ID:u1;Max SDU C to P:u2;Max SDU P to C:u2;PHY C to P:u1;PHY P to C:u1;Rtn C to P:u1;Rtn P to C:u1]|Status:st;CIG ID:u1;[BISes~Connection Handle:ch]
        2063LE Set CIG Parameters Test|*|
        2064LE Create CIS|[CISes~CIS Connection Handle:ch;ACL Connection Handle:ch]|
        2065LE Remove CIG|CIG ID:u1|Status:st;CIG ID:u1
        2066LE Accept CIS Request|Connection Handle:ch|
        2067LE Reject CIS Request|Connection Handle:ch;Reason:st|Status:st;Connection Handle:ch
        2068LE Create BIG|BIG Handle:u1;Advertising Handle:u1;Num BIS:u1;SDU Interval:u3;Max SDU:u2;Max Transport Latency:u2;Rtn:u1;PHY:u1=phy;Packing:u1;Framing:u1;Encryption:u1;Broadcast Code:s16|
        2069LE Create BIG Test|*|
        206aLE Terminate BIG|BIG Handle:u1;Reason:st|
        206bLE BIG Create Sync|BIG Handle:u1;Sync Handle:u2;Encryption:u1;Broadcast Code:s16;Mse:u1;BIG Sync Timeout:u2;[BISes~BIS:u1]|
        206cLE BIG Terminate Sync|BIG Handle:u1|Status:st;BIG Handle:u1
        206dLE Request Peer SCA|Connection Handle:ch|
        206eLE Setup ISO Data Path|Connection Handle:ch;Data Path Direction:u1;Data Path ID:u1;Codec ID:h5;Controller Delay:u3;Codec Configuration:v|Status:st;Connection Handle:ch
        206fLE Remove ISO Data Path|Connection Handle:ch;Data Path Direction:u1|Status:st;Connection Handle:ch
        2070LE ISO Transmit Test|*|
        2071LE ISO Receive Test|*|
        2072LE ISO Read Test Counters|*|
        2073LE ISO Test End|*|
        2074LE Set Host Feature|Bit Number:u1;Bit Value:u1|Status:st
        2075LE Read ISO Link Quality|*|
        2076LE Enhanced Read Transmit Power Level|Connection Handle:ch;PHY:u1=phy|Status:st;Connection Handle:ch;PHY:u1=phy;Current TX Power Level:d1;Maximum TX Power Level:d1
        2077LE Read Remote Transmit Power Level|Connection Handle:ch;PHY:u1=phy|
        2078LE Set Path Loss Reporting Parameters|Connection Handle:ch;High Threshold:u1;High Hysteresis:u1;Low Threshold:u1;Low Hysteresis:u1;Minimum Time Spent:u2|Status:st;Connection Handle:ch
        2079LE Set Path Loss Reporting Enable|Connection Handle:ch;Enable:u1=onoff|Status:st;Connection Handle:ch
        207aLE Set Transmit Power Reporting Enable|Connection Handle:ch;Local Enable:u1=onoff;Remote Enable:u1=onoff|Status:st;Connection Handle:ch
        207bLE Transmitter Test [v4]|*|
        207cLE Set Data Related Address Changes|Advertising Handle:u1;Change Reasons:x1|Status:st
        207dLE Set Default Subrate|Subrate Min:u2;Subrate Max:u2;Maximum Latency:u2;Continuation Number:u2;Supervision Timeout:m10000|Status:st
        207eLE Subrate Request|Connection Handle:ch;Subrate Min:u2;Subrate Max:u2;Maximum Latency:u2;Continuation Number:u2;Supervision Timeout:m10000|
        207fLE Set Extended Advertising Parameters [v2]|Advertising Handle:u1;Advertising Event Properties:b2=advproperties;Primary Advertising Interval Min:w625;Primary Advertising Interval Max:w625;Primary Advertising Channel Map:b1=advchannels;Own Address Type:u1=own;Peer Address Type:u1=addr;Peer Address:a;Advertising Filter Policy:u1=afp;Advertising TX Power:d1;Primary Advertising PHY:u1=phy;Secondary Advertising Max Skip:u1;Secondary Advertising PHY:u1=phy;Advertising SID:u1;Scan Request Notification Enable:u1=onoff;Primary Advertising PHY Options:x1;Secondary Advertising PHY Options:x1|Status:st;Selected TX Power:d1
        2080LE Set Decision Data|*|
        2081LE Set Decision Instructions|*|
        2082LE Set Periodic Advertising Subevent Data|*|
        2083LE Set Periodic Advertising Response Data|*|
        2084LE Set Periodic Sync Subevent|*|
        2085LE Extended Create Connection [v2]|Advertising Handle:u1;Subevent:u1;Initiator Filter Policy:u1=ifp;Own Address Type:u1=own;Peer Address Type:u1=addr;Peer Address:a;Initiating PHYs:x1=phys;{PHYs~Scan Interval:m625;Scan Window:m625;Connection Interval Min:m1250;Connection Interval Max:m1250;Maximum Latency:u2;Supervision Timeout:m10000;Minimum CE Length:m625;Maximum CE Length:m625}|
        2086LE Set Periodic Advertising Parameters [v2]|*|
        2087LE Read All Local Supported Features||Status:st;Maximum Page:u1;LE Features:B248=lefeatures
        2088LE Read All Remote Features|*|
        2089LE CS Read Local Supported Capabilities||Status:st;Num Config Supported:u1;Max Consecutive Procedures Supported:u2;Num Antennas Supported:u1;Max Antenna Paths Supported:u1;Roles Supported:u1;Modes Supported:u1;RTT Capability:u1;RTT AA Only N:u1;RTT Sounding N:u1;RTT Random Sequence N:u1;NADM Sounding Capability:u2;NADM Random Capability:u2;CS Sync PHYs Supported:u1;Subfeatures Supported:x2;T_IP1 Times Supported:u2;T_IP2 Times Supported:u2;T_FCS Times Supported:u2;T_PM Times Supported:u2;T_SW Time Supported:u1;TX SNR Capability:u1
        208aLE CS Read Remote Supported Capabilities|Connection Handle:ch|
        208bLE CS Write Cached Remote Supported Capabilities|Connection Handle:ch;Num Config Supported:u1;Max Consecutive Procedures Supported:u2;Num Antennas Supported:u1;Max Antenna Paths Supported:u1;Roles Supported:u1;Modes Supported:u1;RTT Capability:u1;RTT AA Only N:u1;RTT Sounding N:u1;RTT Random Sequence N:u1;NADM Sounding Capability:u2;NADM Random Capability:u2;CS Sync PHYs Supported:u1;Subfeatures Supported:x2;T_IP1 Times Supported:u2;T_IP2 Times Supported:u2;T_FCS Times Supported:u2;T_PM Times Supported:u2;T_SW Time Supported:u1;TX SNR Capability:u1|Status:st;Connection Handle:ch
        208cLE CS Security Enable|Connection Handle:ch|
        208dLE CS Set Default Settings|Connection Handle:ch;Role Enable:u1;CS Sync Antenna Selection:u1;Max TX Power:u1|Status:st;Connection Handle:ch
        208eLE CS Read Remote FAE Table|Connection Handle:ch|
        208fLE CS Write Cached Remote FAE Table|Connection Handle:ch;Remote FAE Table:h72|Status:st;Connection Handle:ch
        2090LE CS Create Config|Connection Handle:ch;Config ID:u1;Create Context:u1;Main Mode Type:u1;Sub Mode Type:u1;Min Main Mode Steps:u1;Max Main Mode Steps:u1;Main Mode Repetition:u1;Mode 0 Steps:u1;Role:u1=role;RTT Type:u1;CS Sync PHY:u1;Channel Map:h10;Channel Map Repetition:x1;Channel Selection Type:u1;Ch3c Shape:u1;Ch3c Jump:u1;CS Enhancements:u1|
        2091LE CS Remove Config|Connection Handle:ch;Config ID:u1|
        2092LE CS Set Channel Classification|Channel Classification:h10|Status:st
        2093LE CS Set Procedure Parameters|Connection Handle:ch;Config ID:u1;Max Procedure Len:u2;Min Procedure Interval:u2;Max Procedure Interval:u2;Max Procedure Count:u2;Min Subevent Len:u3;Max Subevent Len:u3;Tone Antenna Config Selection:u1;PHY:u1=phy;TX Power Delta:u1;Preferred Peer Antenna:u1;SNR Control Initiator:u1;SNR Control Reflector:u1|Status:st;Connection Handle:ch
        2094LE CS Procedure Enable|Connection Handle:ch;Config ID:u1;Enable:u1=onoff|
        2095LE CS Test|Main Mode Type:u1;Sub Mode Type:u1;Main Mode Repetition:u1;Mode 0 Steps:u1;Role:u1=role;RTT Type:u1;CS Sync PHY:u1;CS Sync Antenna Selection:u1;Subevent Len:u3;Subevent Interval:u2;Max Num Subevents:u1;Transmit Power Level:u1;T_IP1 Time:u1;T_IP2 Time:u1;T_FCS Time:u1;T_PM Time:u1;T_SW Time:u1;Tone Antenna Config Selection:u1;Reserved:u1;SNR Control Initiator:u1;SNR Control Reflector:u1;Drbg Nonce:u2;Channel Map Repetition:x1;Override Config:u2;Override Parameters Data:v|Status:st
        2096LE CS Test End||
        2097LE Set Host Feature [v2]|*|
        2098LE Add Device to Monitored Advertisers List|*|
        2099LE Remove Device from Monitored Advertisers List|*|
        209aLE Clear Monitored Advertisers List|*|
        209bLE Read Monitored Advertisers List Size|*|
        209cLE Enable Monitoring Advertisers|*|
        209dLE Frame Space Update|Connection Handle:ch;Frame Space Min:u2;Frame Space Max:u2;PHYs:b1=phymask;Spacing Types:b2=spacings|
        209eLE Set Resolvable Private Address Timeout [v2]|*|
        209fLE Enable UTP OTA Mode|*|
        20a0LE UTP Send|*|
        20a1LE Connection Rate Request|Connection Handle:ch;Connection Interval Min:m1250;Connection Interval Max:m1250;Subrate Min:u2;Subrate Max:u2;Maximum Latency:u2;Continuation Number:u2;Supervision Timeout:m10000;Min CE Length:u2;Max CE Length:u2|
        20a2LE Set Default Rate Parameters|Connection Interval Min:m1250;Connection Interval Max:m1250;Subrate Min:u2;Subrate Max:u2;Maximum Latency:u2;Continuation Number:u2;Supervision Timeout:m10000;Min CE Length:u2;Max CE Length:u2|Status:st
        20a3LE Read Minimum Supported Connection Interval||Status:st;Minimum Supported Connection Interval:u1;[Groups~Group Min:u2;Group Max:u2;Group Stride:u2]
        20a5LE CS Read Local Supported Capabilities [v2]||Status:st;Num Config Supported:u1;Max Consecutive Procedures Supported:u2;Num Antennas Supported:u1;Max Antenna Paths Supported:u1;Roles Supported:u1;Modes Supported:u1;RTT Capability:u1;RTT AA Only N:u1;RTT Sounding N:u1;RTT Random Sequence N:u1;NADM Sounding Capability:u2;NADM Random Capability:u2;CS Sync PHYs Supported:u1;Subfeatures Supported:x2;T_IP1 Times Supported:u2;T_IP2 Times Supported:u2;T_FCS Times Supported:u2;T_PM Times Supported:u2;T_SW Time Supported:u1;TX SNR Capability:u1;T_IP2 Ipt Times Supported:u2;T_SW Ipt Times Supported:u1;RTT 2m AA Only N:u1;RTT 2m Sounding N:u1;RTT 2m Random Sequence N:u1
        20a6LE CS Write Cached Remote Supported Capabilities [v2]|*|
        """#
}
