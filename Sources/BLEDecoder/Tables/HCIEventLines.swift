/// Events: code, name, parameters, a line each, in the form that `PacketTables` reads (Core 5.4, Vol 4, Part E, 7).
enum HCIEventLines {
    static let text: StaticString = #"""
        01Inquiry Complete|Status:st
        02Inquiry Result|[Responses~BD_ADDR:a;Page Scan Repetition Mode:u1;Reserved 0:u1;Reserved 1:u1;Class of Device:x3;Clock Offset:x2]
        03Connection Complete|Status:st;Connection Handle:ch;BD_ADDR:a;Link Type:u1=link;Encryption Enabled:u1=encryption
        04Connection Request|BD_ADDR:a;Class of Device:x3;Link Type:u1=link
        05Disconnection Complete|Status:st;Connection Handle:ch;Reason:st
        06Authentication Complete|Status:st;Connection Handle:ch
        07Remote Name Request Complete|Status:st;BD_ADDR:a;Remote Name:n248
        08Encryption Change|Status:st;Connection Handle:ch;Encryption Enabled:u1=encryption
        09Change Connection Link Key Complete|Status:st;Connection Handle:ch
        0aLink Key Type Changed|Status:st;Connection Handle:ch;Key Flag:u1
        0bRead Remote Supported Features Complete|Status:st;Connection Handle:ch;LMP Features:B8=lmpfeatures
        0cRead Remote Version Information Complete|Status:st;Connection Handle:ch;Version:u1=version;Manufacturer Name:u2=company;Subversion:x2
        0dQoS Setup Complete|Status:st;Connection Handle:ch;Unused:u1;Service Type:u1
        0eCommand Complete|Num HCI Command Packets:u1;Command Opcode:op
        0fCommand Status|Status:st;Num HCI Command Packets:u1;Command Opcode:op
        10Hardware Error|Hardware Code:x1
        11Flush Occurred|Connection Handle:ch
        12Role Change|Status:st;BD_ADDR:a;New Role:u1=role
        13Number of Completed Packets|[Handles~Connection Handle:ch;Num Completed Packets:u2]
        14Mode Change|Status:st;Connection Handle:ch;Current Mode:u1=mode;Interval:m625
        15Return Link Keys|Link Keys:S
        16PIN Code Request|BD_ADDR:a
        17Link Key Request|BD_ADDR:a
        18Link Key Notification|BD_ADDR:a;Link Key:s16;Key Type:u1
        19Loopback Command|*
        1aData Buffer Overflow|Link Type:u1=link
        1bMax Slots Change|Connection Handle:ch;LMP Max Slots:u1
        1cRead Clock Offset Complete|Status:st;Connection Handle:ch;Clock Offset:x2
        1dConnection Packet Type Changed|Status:st;Connection Handle:ch;Packet Type:x2
        1eQoS Violation|Connection Handle:ch
        20Page Scan Repetition Mode Change|BD_ADDR:a;Page Scan Repetition Mode:u1
        21Flow Specification Complete|*
        22Inquiry Result with RSSI|[Responses~BD_ADDR:a;Page Scan Repetition Mode:u1;Reserved:u1;Class of Device:x3;Clock Offset:x2;RSSI:d1]
        23Read Remote Extended Features Complete|Status:st;Connection Handle:ch;Page Number:u1;Maximum Page Number:u1;Extended LMP Features:B8
        2cSynchronous Connection Complete|Status:st;Connection Handle:ch;BD_ADDR:a;Link Type:u1=link;Transmission Interval:u1;Retransmission Window:u1;RX Packet Length:u2;TX Packet Length:u2;Air Mode:u1
        2dSynchronous Connection Changed|Status:st;Connection Handle:ch;Transmission Interval:u1;Retransmission Window:u1;RX Packet Length:u2;TX Packet Length:u2
        2eSniff Subrating|Status:st;Connection Handle:ch;Max TX Latency:u2;Max RX Latency:u2;Min Remote Timeout:u2;Min Local Timeout:u2
        2fExtended Inquiry Result|Num Responses:u1;BD_ADDR:a;Page Scan Repetition Mode:u1;Reserved:u1;Class of Device:x3;Clock Offset:x2;RSSI:d1;Extended Inquiry Response:A240
        30Encryption Key Refresh Complete|Status:st;Connection Handle:ch
        31IO Capability Request|BD_ADDR:a
        32IO Capability Response|BD_ADDR:a;IO Capability:u1=io;OOB Data Present:u1;Authentication Requirements:u1
        33User Confirmation Request|BD_ADDR:a;Numeric Value:s4
        34User Passkey Request|BD_ADDR:a
        35Remote OOB Data Request|BD_ADDR:a
        36Simple Pairing Complete|Status:st;BD_ADDR:a
        38Link Supervision Timeout Changed|Connection Handle:ch;Link Supervision Timeout:m625
        39Enhanced Flush Complete|Handle:ch
        3bUser Passkey Notification|BD_ADDR:a;Passkey:s4
        3cKeypress Notification|BD_ADDR:a;Notification Type:u1
        3dRemote Host Supported Features Notification|BD_ADDR:a;Host Supported Features:B8
        3eLE Meta|*
        48Number of Completed Data Blocks|*
        4eTriggered Clock Capture|*
        4fSynchronization Train Complete|*
        50Synchronization Train Received|*
        51Connectionless Peripheral Broadcast Receive|*
        52Connectionless Peripheral Broadcast Timeout|*
        53Truncated Page Complete|*
        54Peripheral Page Response Timeout|*
        55Connectionless Peripheral Broadcast Channel Map Change|*
        56Inquiry Response Notification|*
        57Authenticated Payload Timeout Expired|Connection Handle:ch
        58SAM Status Change|*
        59Encryption Change [v2]|Status:st;Connection Handle:ch;Encryption Enabled:u1=encryption;Encryption Key Size:u1
        ffVendor Specific|*
        """#
}
