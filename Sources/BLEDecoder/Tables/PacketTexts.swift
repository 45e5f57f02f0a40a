/// Every name that the decoder shows, as text that lies in the program.
///
/// The tables of the layouts, fields and values contain the offsets of their names in these texts.
enum PacketTexts {}
