/// LE Meta events: subevent code, name, parameters, a line each, in the form that `PacketTables` reads (Core 5.4, Vol 4, Part E, 7).
enum LEMetaEventLines {
    static let text: StaticString = #"""
        01LE Connection Complete|Status:st;Connection Handle:ch;Role:u1=role;Peer Address Type:u1=addr;Peer Address:a;Connection Interval:m1250;Peripheral Latency:u2;Supervision Timeout:m10000;Central Clock Accuracy:u1=accuracy
        02LE Advertising Report|[Reports~Event Type:u1=advtype;Address Type:u1=addr;Address:a;Data:V;RSSI:d1]
        03LE Connection Update Complete|Status:st;Connection Handle:ch;Connection Interval:m1250;Peripheral Latency:u2;Supervision Timeout:m10000
        04LE Read Remote Features Complete|Status:st;Connection Handle:ch;LE Features:B8=lefeatures
        05LE Long Term Key Request|Connection Handle:ch;Random Number:h8;Encrypted Diversifier:x2
        06LE Remote Connection Parameter Request|Connection Handle:ch;Interval Min:m1250;Interval Max:m1250;Maximum Latency:u2;Timeout:m10000
        07LE Data Length Change|Connection Handle:ch;Max TX Octets:u2;Max TX Time:u2;Max RX Octets:u2;Max RX Time:u2
        08LE Read Local P-256 Public Key Complete|Status:st;P-256 Public Key:h64
        09LE Generate DHKey Complete|Status:st;DH Key:s32
        0aLE Enhanced Connection Complete|Status:st;Connection Handle:ch;Role:u1=role;Peer Address Type:u1=addr;Peer Address:a;Local Resolvable Private Address:a;Peer Resolvable Private Address:a;Connection Interval:m1250;Peripheral Latency:u2;Supervision Timeout:m10000;Central Clock Accuracy:u1=accuracy
        0bLE Directed Advertising Report|[Reports~Event Type:u1=advtype;Address Type:u1=addr;Address:a;Direct Address Type:u1=addr;Direct Address:a;RSSI:d1]
        0cLE PHY Update Complete|Status:st;Connection Handle:ch;TX PHY:u1=phy;RX PHY:u1=phy
        0dLE Extended Advertising Report|[Reports~Event Type:x2=exttype;Address Type:u1=addr;Address:a;Primary PHY:u1=phy;Secondary PHY:u1=phy;Advertising SID:u1=sid;TX Power:d1;RSSI:d1;Periodic Advertising Interval:m1250;Direct Address Type:u1=addr;Direct Address:a;Data:V]
        0eLE Periodic Advertising Sync Established|Status:st;Sync Handle:u2;Advertising SID:u1;Advertiser Address Type:u1=addr;Advertiser Address:a;Advertiser PHY:u1=phy;Periodic Advertising Interval:m1250;Advertiser Clock Accuracy:u1=accuracy
        0fLE Periodic Advertising Report|Sync Handle:u2;TX Power:d1;RSSI:d1;CTE Type:u1;Data Status:u1;Data:V
        10LE Periodic Advertising Sync Lost|Sync Handle:u2
        11LE Scan Timeout|
        12LE Advertising Set Terminated|Status:st;Advertising Handle:u1;Connection Handle:ch;Num Completed Extended Advertising Events:u1
        13LE Scan Request Received|Advertising Handle:u1;Scanner Address Type:u1=addr;Scanner Address:a
        14LE Channel Selection Algorithm|Connection Handle:ch;Channel Selection Algorithm:u1=csa
        15LE Connectionless IQ Report|*
        16LE Connection IQ Report|*
        17LE CTE Request Failed|Status:st;Connection Handle:ch
        18LE Periodic Advertising Sync Transfer Received|Status:st;Connection Handle:ch;Service Data:u2;Sync Handle:u2;Advertising SID:u1;Advertiser Address Type:u1=addr;Advertiser Address:a;Advertiser PHY:u1=phy;Periodic Advertising Interval:m1250;Advertiser Clock Accuracy:u1=accuracy
        19LE CIS Established|Status:st;Connection Handle:ch;CIG Sync Delay:u3;CIS Sync Delay:u3;Transport Latency C to P:u3;Transport Latency P to C:u3;PHY C to P:u1;PHY P to C:u1;NSE:u1;BN C to P:u1;BN P to C:u1;FT C to P:u1;FT P to C:u1;Max PDU C to P:u2;Max PDU P to C:u2;ISO Interval:m1250
        1aLE CIS Request|ACL Connection Handle:ch;CIS Connection Handle:ch;CIG ID:u1;CIS ID:u1
        1bLE Create BIG Complete|Status:st;BIG Handle:u1;BIG Sync Delay:u3;Transport Latency BIG:u3;PHY:u1=phy;NSE:u1;BN:u1;PTO:u1;IRC:u1;Max PDU:u2;ISO Interval:m1250;[BISes~Connection Handle:ch]
        1cLE Terminate BIG Complete|BIG Handle:u1;Reason:st
        1dLE BIG Sync Established|Status:st;BIG Handle:u1;Transport Latency BIG:u3;NSE:u1;BN:u1;PTO:u1;IRC:u1;Max PDU:u2;ISO Interval:m1250;[BISes~Connection Handle:ch]
        1eLE BIG Sync Lost|BIG Handle:u1;Reason:st
        1fLE Request Peer SCA Complete|Status:st;Connection Handle:ch;Peer Clock Accuracy:u1=accuracy
        20LE Path Loss Threshold|Connection Handle:ch;Current Path Loss:u1;Zone Entered:u1
        21LE Transmit Power Reporting|Status:st;Connection Handle:ch;Reason:u1;PHY:u1=phy;TX Power Level:d1;TX Power Level Flag:x1;Delta:i1
        22LE BIGInfo Advertising Report|Sync Handle:u2;Num BIS:u1;NSE:u1;ISO Interval:m1250;BN:u1;PTO:u1;IRC:u1;Max PDU:u2;SDU Interval:u3;Max SDU:u2;PHY:u1=phy;Framing:u1;Encryption:u1
        23LE Subrate Change|Status:st;Connection Handle:ch;Subrate Factor:u2;Peripheral Latency:u2;Continuation Number:u2;Supervision Timeout:m10000
        24LE Periodic Advertising Sync Established [v2]|Status:st;Sync Handle:u2;Advertising SID:u1;Advertiser Address Type:u1=addr;Advertiser Address:a;Advertiser PHY:u1=phy;Periodic Advertising Interval:m1250;Advertiser Clock Accuracy:u1=accuracy;Num Subevents:u1;Subevent Interval:u1;Response Slot Delay:u1;Response Slot Spacing:u1
        25LE Periodic Advertising Report [v2]|Sync Handle:u2;TX Power:d1;RSSI:d1;CTE Type:u1;Periodic Event Counter:u2;Subevent:u1;Data Status:u1;Data:V
        26LE Periodic Advertising Sync Transfer Received [v2]|Status:st;Connection Handle:ch;Service Data:u2;Sync Handle:u2;Advertising SID:u1;Advertiser Address Type:u1=addr;Advertiser Address:a;Advertiser PHY:u1=phy;Periodic Advertising Interval:m1250;Advertiser Clock Accuracy:u1=accuracy;Num Subevents:u1;Subevent Interval:u1;Response Slot Delay:u1;Response Slot Spacing:u1
        27LE Periodic Advertising Subevent Data Request|Advertising Handle:u1;Subevent Start:u1;Subevent Data Count:u1
        28LE Periodic Advertising Response Report|Advertising Handle:u1;Subevent:u1;TX Status:u1;[Responses~TX Power:d1;RSSI:d1;CTE Type:u1;Response Slot:u1;Data Status:u1;Data:V]
        29LE Enhanced Connection Complete [v2]|Status:st;Connection Handle:ch;Role:u1=role;Peer Address Type:u1=addr;Peer Address:a;Local Resolvable Private Address:a;Peer Resolvable Private Address:a;Connection Interval:m1250;Peripheral Latency:u2;Supervision Timeout:m10000;Central Clock Accuracy:u1=accuracy;Advertising Handle:u1;Sync Handle:u2
        2aLE CIS Established [v2]|Status:st;Connection Handle:ch;CIG Sync Delay:u3;CIS Sync Delay:u3;Transport Latency C to P:u3;Transport Latency P to C:u3;PHY C to P:u1;PHY P to C:u1;NSE:u1;BN C to P:u1;BN P to C:u1;FT C to P:u1;FT P to C:u1;Max PDU C to P:u2;Max PDU P to C:u2;ISO Interval:m1250;Sub Interval:u3;Max SDU C to P:u2;Max SDU P to C:u2;SDU Interval C to P:u3;SDU Interval P to C:u3;Framing:u1
        2bLE Read All Remote Features Complete|Status:st;Connection Handle:ch;Maximum Remote Page:u1;Maximum Valid Page:u1;LE Features:B248=lefeatures
        2cLE CS Read Remote Supported Capabilities Complete|Status:st;Connection Handle:ch;Num Config Supported:u1;Max Consecutive Procedures Supported:u2;Num Antennas Supported:u1;Max Antenna Paths Supported:u1;Roles Supported:u1;Modes Supported:u1;RTT Capability:u1;RTT AA Only N:u1;RTT Sounding N:u1;RTT Random Sequence N:u1;NADM Sounding Capability:u2;NADM Random Capability:u2;CS Sync PHYs Supported:u1;Subfeatures Supported:x2;T_IP1 Times Supported:u2;T_IP2 Times Supported:u2;T_FCS Times Supported:u2;T_PM Times Supported:u2;T_SW Time Supported:u1;TX SNR Capability:u1
        2dLE CS Read Remote FAE Table Complete|Status:st;Connection Handle:ch;Remote FAE Table:h72
        2eLE CS Security Enable Complete|Status:st;Connection Handle:ch
        2fLE CS Config Complete|Status:st;Connection Handle:ch;Config ID:u1;Action:u1;Main Mode Type:u1;Sub Mode Type:u1;Min Main Mode Steps:u1;Max Main Mode Steps:u1;Main Mode Repetition:u1;Mode 0 Steps:u1;Role:u1=role;RTT Type:u1;CS Sync PHY:u1;Channel Map:h10;Channel Map Repetition:x1;Channel Selection Type:u1;Ch3c Shape:u1;Ch3c Jump:u1;Reserved:u1;T_IP1 Time:u1;T_IP2 Time:u1;T_FCS Time:u1;T_PM Time:u1
        30LE CS Procedure Enable Complete|Status:st;Connection Handle:ch;Config ID:u1;State:u1;Tone Antenna Config Selection:u1;Selected TX Power:d1;Subevent Len:u3;Subevents Per Event:u1;Subevent Interval:u2;Event Interval:u2;Procedure Interval:u2;Procedure Count:u2;Max Procedure Len:u2
        31LE CS Subevent Result|Connection Handle:ch;Config ID:u1;Start ACL Conn Event Counter:u2;Procedure Counter:u2;Frequency Compensation:u2;Reference Power Level:d1;Procedure Done Status:u1;Subevent Done Status:u1;Abort Reason:u1;Num Antenna Paths:u1;[Steps~Step Mode:u1;Step Channel:u1;Step Data:v]
        32LE CS Subevent Result Continue|Connection Handle:ch;Config ID:u1;Procedure Done Status:u1;Subevent Done Status:u1;Abort Reason:u1;Num Antenna Paths:u1;[Steps~Step Mode:u1;Step Channel:u1;Step Data:v]
        33LE CS Test End Complete|Connection Handle:ch;Status:st
        34LE Monitored Advertisers Report|Condition:u1;Address Type:u1=addr;Address:a
        35LE Frame Space Update Complete|Status:st;Connection Handle:ch;Initiator:u1;Frame Space:u2;PHYs:b1=phymask;Spacing Types:b2=spacings
        36LE UTP Receive|*
        37LE Connection Rate Change|Status:st;Connection Handle:ch;Connection Interval:m1250;Subrate Factor:u2;Peripheral Latency:u2;Continuation Number:u2;Supervision Timeout:m10000
        38LE CS Read Remote Supported Capabilities Complete [v2]|Status:st;Connection Handle:ch;Num Config Supported:u1;Max Consecutive Procedures Supported:u2;Num Antennas Supported:u1;Max Antenna Paths Supported:u1;Roles Supported:u1;Modes Supported:u1;RTT Capability:u1;RTT AA Only N:u1;RTT Sounding N:u1;RTT Random Sequence N:u1;NADM Sounding Capability:u2;NADM Random Capability:u2;CS Sync PHYs Supported:u1;Subfeatures Supported:x2;T_IP1 Times Supported:u2;T_IP2 Times Supported:u2;T_FCS Times Supported:u2;T_PM Times Supported:u2;T_SW Time Supported:u1;TX SNR Capability:u1;T_IP2 Ipt Times Supported:u2;T_SW Ipt Times Supported:u1;RTT 2m AA Only N:u1;RTT 2m Sounding N:u1;RTT 2m Random Sequence N:u1
        """#
}
