// Made by Tools/AssignedNumbers/generate-characteristics; do not edit.
// GATT Specification Supplement and Core specification, through PyPI: bluetooth-sig 0.6.0.

extension CharacteristicFormat {
    /// 297 lines, in order: 4 hexadecimal digits, and fields parted by “|” whose columns, parted by “~”, the generator
    /// names.
    static let lines: StaticString = #"""
        2900~w16|Reliable Write~.0|Writable Auxiliaries~.1
        2901User Description~s
        2902~w16|Notification~.0|Indication~.1
        2903~w16|Broadcast~.0
        2904Format~u8|Exponent~i8|Unit~u16|Name Space~u8|Description~u16
        2908Report ID~u8|Report Type~u8~~~~1=input,2=output,3=feature
        2a00Device Name~s
        2a01Appearance~appearance
        2a02Peripheral Privacy Flag~u8~~~~0=disabled,1=enabled
        2a04Minimum Connection Interval~u16~ms~125e-2~~ffff=no specific minimum|Maximum Connection Interval~u16~ms~125e-2~~ffff=no specific maximum|Peripheral Latency~u16|Supervision Timeout~u16~ms~10e0~~ffff=no specific value
        2a05First Handle~u16|Last Handle~u16
        2a06Alert Level~u8~~~~0=No Alert,1=Mild Alert,2=High Alert
        2a07Tx Power~i8~dBm
        2a08Date Time~date
        2a09Day of Week~u8~~~~0=?,1=Monday,2=Tuesday,3=Wednesday,4=Thursday,5=Friday,6=Saturday,7=Sunday
        2a0aDate Time~date|Day of Week~u8~~~~0=?,1=Monday,2=Tuesday,3=Wednesday,4=Thursday,5=Friday,6=Saturday,7=Sunday
        2a0cDate Time~date|Day of Week~u8~~~~0=?,1=Monday,2=Tuesday,3=Wednesday,4=Thursday,5=Friday,6=Saturday,7=Sunday|Fractions256~u8~s~b-8
        2a0dDST Offset~u8~~~~0=Standard Time,2=Half an hour Daylight Time (+ 0.5h),4=Daylight Time (+ 1h),8=Double Daylight Time (+ 2h),ff=DST offset unknown
        2a0eTime Zone~i8~min~15e0~~80=?
        2a0fTime Zone~i8~min~15e0~~80=?|DST Offset~u8~~~~0=Standard Time,2=Half an hour Daylight Time (+ 0.5h),4=Daylight Time (+ 1h),8=Double Daylight Time (+ 2h),ff=DST offset unknown
        2a11Date Time~date|DST Offset~u8~~~~0=Standard Time,2=Half an hour Daylight Time (+ 0.5h),4=Daylight Time (+ 1h),8=Double Daylight Time (+ 2h),ff=DST offset unknown
        2a12Accuracy~u8~s~b-3~~fe=more than 31.625 s,ff=?
        2a13Time Source~u8~~~~0=?,1=Network Time Protocol,2=GPS,3=Radio Time Signal,4=Manual,5=Atomic Clock,6=Cellular Network,7=Not Synchronized
        2a14Time Source~u8~~~~0=?,1=Network Time Protocol,2=GPS,3=Radio Time Signal,4=Manual,5=Atomic Clock,6=Cellular Network,7=Not Synchronized|Time Accuracy~u8~s~b-3~~fe=more than 31.625 s,ff=?|Days Since Update~u8|Hours Since Update~u8
        2a16Time Update Control Point~u8~~~~1=Get Reference Update,2=Cancel Reference Update|Parameter~x~~~*
        2a17Current State~u8~~~~0=Idle,1=Update Pending|Result~u8~~~~0=Successful,1=Cancelled,2=No connection to reference,3=Reference responded with an error,4=Timeout,5=Update not attempted after reset
        2a18~w8|Sequence Number~u16|Base Time~date|Time Offset~i16~min~~0=1|Glucose Concentration~f16~kg/L~~1=1&2=0|Glucose Concentration~f16~mol/L~~1=1&2=1|~w8~~~1=1|Type~.0-3~~~1=1~1=capillary whole blood,2=capillary plasma,3=venous whole blood,4=venous plasma,5=arterial whole blood,6=arterial plasma,7=undetermined whole blood,8=undetermined plasma,9=interstitial fluid,a=control solution|Sample Location~.4-7~~~1=1~1=finger,2=alternate site test,3=earlobe,4=control solution,f=?|Sensor Status Annunciation~w16~~~3=1
        2a19Battery Level~u8~%
        2a1c~w8|Temperature Measurement Value~f32~°C~~0=0|Temperature Measurement Value~f32~°F~~0=1|Time Stamp~date~~~1=1|Temperature Type~u8~~~2=1~1=Armpit,2=Body (general),3=Ear (usually earlobe),4=Finger,5=Gastrointestinal Tract,6=Mouth,7=Rectum,8=Toe,9=Tympanum (ear drum)
        2a1dTemperature Type Description~u8~~~~1=Armpit,2=Body (general),3=Ear (usually earlobe),4=Finger,5=Gastrointestinal Tract,6=Mouth,7=Rectum,8=Toe,9=Tympanum (ear drum)
        2a1e~w8|Intermediate Temperature~f32~°C~~0=0|Intermediate Temperature~f32~°F~~0=1|Time Stamp~date~~~1=1|Temperature Type~u8~~~2=1~1=Armpit,2=Body (general),3=Ear (usually earlobe),4=Finger,5=Gastrointestinal Tract,6=Mouth,7=Rectum,8=Toe,9=Tympanum (ear drum)
        2a21Measurement Interval~u16~s~~~0=no periodic measurement
        2a23System ID~x
        2a24Model Number~s
        2a25Serial Number~s
        2a26Firmware Revision~s
        2a27Hardware Revision~s
        2a28Software Revision~s
        2a29Manufacturer Name~s
        2a2aIEEE 11073-20601 Regulatory Certification Data List~x~~~*
        2a2bDate Time~date|Day of Week~u8~~~~0=?,1=Monday,2=Tuesday,3=Wednesday,4=Thursday,5=Friday,6=Saturday,7=Sunday|Fractions256~u8~s~b-8|Adjust Reason~w8|Manual Time Update~.0|External Reference Time Update~.1|Change of Time Zone~.2|Change of DST~.3
        2a2cMagnetic Declination~u16~°~e-2
        2a34~w8|Sequence Number~u16|~w8~~~7=1|Carbohydrate ID~u8~~~0=1~1=Breakfast,2=Lunch,3=Dinner,4=Snack,5=Drink,6=Supper,7=Brunch|Carbohydrate~f16~kg~~0=1|Meal~u8~~~1=1~1=Preprandial,2=Postprandial,3=Fasting,4=Casual,5=Bedtime|~w8~~~2=1|Tester~.0-3~~~2=1~1=Self,2=Health care professional,3=Lab test,f=?|Health~.4-7~~~2=1~1=Minor health issues,2=Major health issues,3=During menses,4=Under stress,5=No health issues,f=?|Exercise Duration~u16~s~~3=1~ffff=overrun|Exercise Intensity~u8~%~~3=1|Medication ID~u8~~~4=1~1=Rapid acting insulin,2=Short acting insulin,3=Intermediate acting insulin,4=Long acting insulin,5=Pre-mixed insulin|Medication~f16~kg~~4=1&5=0|Medication~f16~L~~4=1&5=1|HbA1c~f16~%~~6=1
        2a35~w8|Systolic~f16~mmHg~~0=0|Diastolic~f16~mmHg~~0=0|Mean Arterial Pressure~f16~mmHg~~0=0|Systolic~f16~kPa~~0=1|Diastolic~f16~kPa~~0=1|Mean Arterial Pressure~f16~kPa~~0=1|Time Stamp~date~~~1=1|Pulse Rate~f16~bpm~~2=1|User ID~u8~~~3=1~ff=Unknown User|~w16~~~4=1|Body Movement Detection Flag~.0~~~4=1~0=No body movement,1=Body movement detected during measurement|Cuff Fit Detection Flag~.1~~~4=1~0=Cuff fits properly,1=Cuff too loose|Irregular Pulse Detection Flag~.2~~~4=1~0=No irregular pulse detected,1=Irregular pulse detected|Pulse Rate Range Detection Flags~.3-4~~~4=1|Measurement Position Detection Flag~.5~~~4=1~0=Proper measurement position,1=Improper measurement position
        2a36~w8|Cuff Pressure~f16~mmHg~~0=0|Cuff Pressure~f16~kPa~~0=1|~w16|~w16|Time Stamp~date~~~1=1|Pulse Rate~f16~bpm~~2=1|User ID~u8~~~3=1~ff=?|Measurement Status~w16~~~4=1
        2a37~w8|Sensor Contact~.1-2~~~~2=no,3=yes,0=not supported,1=not supported|Heart Rate~u8~bpm~~0=0|Heart Rate~u16~bpm~~0=1|Energy Expended~u16~kJ~~3=1|RR-Interval~u16*~s~b-10~4=1
        2a38Body Sensor Location~u8~~~~0=Other,1=Chest,2=Wrist,3=Finger,4=Hand,5=Ear Lobe,6=Foot
        2a39Heart Rate Control Point~u8~~~~1=Reset Energy Expended|Parameter~x~~~*
        2a3f~w8|Ringer State~.0~~~~0=Ringer State not active,1=Ringer State active|Vibrate State~.1~~~~0=Vibrate State not active,1=Vibrate State active|Display Alert Status~.2~~~~0=Display Alert Status not active,1=Display Alert Status active
        2a40Ringer Control Point~u8~~~~1=Silent Mode,2=Mute Once,3=Cancel Silent Mode|Parameter~x~~~*
        2a41Ringer Setting~u8~~~~0=Ringer Silent,1=Ringer Normal
        2a42~w16|Simple Alert~.0|Email~.1|News~.2|Call~.3|Missed Call~.4|SMS/MMS~.5|Voice Mail~.6|Schedule~.7|High Prioritized Alert~.8|Instant Message~.9
        2a43Category ID~u8~~~~0=Simple Alert,1=Email,2=News,3=Call,4=Missed Call,5=SMS/MMS,6=Voice Mail,7=Schedule,8=High Prioritized Alert,9=Instant Message
        2a44Command ID~u8~~~~0=Enable New Incoming Alert Notification,1=Enable Unread Category Status Notification,2=Disable New Incoming Alert Notification,3=Disable Unread Category Status Notification,4=Notify New Incoming Alert immediately,5=Notify Unread Category Status immediately|Parameter~x~~~*
        2a45Category ID~u8~~~~0=Simple Alert,1=Email,2=News,3=Call,4=Missed Call,5=SMS/MMS,6=Voice Mail,7=Schedule,8=High Prioritized Alert,9=Instant Message|Unread Count~u8
        2a46Category ID~u8~~~~0=Simple Alert,1=Email,2=News,3=Call,4=Missed Call,5=SMS/MMS,6=Voice Mail,7=Schedule,8=High Prioritized Alert,9=Instant Message|Number of New Alert~u8|Text String Information~s
        2a47Category ID Bit Mask~u8|~w8~~~*
        2a48Category ID Bit Mask~u8|~w8~~~*
        2a49~w16|Body Movement Detection Support~.0|Cuff Fit Detection Support~.1|Irregular Pulse Detection Support~.2|Pulse Rate Range Detection Support~.3|Measurement Position Detection Support~.4|Multiple Bond Support~.5|E2E-CRC Support~.6|User Data Service Support~.7|User Facing Time Support~.8
        2a4aHID Version~u16|Country Code~u8|~w8|Remote Wake~.0|Normally Connectable~.1
        2a4eProtocol Mode~u8~~~~0=boot,1=report
        2a50Vendor ID Source~u8~~~~1=Bluetooth SIG,2=USB Implementer’s Forum|Vendor ID~u16|Product ID~u16|Product Version~u16
        2a51~w16|Sensor Malfunction Detection support~.1|Sensor Sample Size support~.2|Sensor Strip Type Error Detection support~.4|Sensor Result High-Low Detection support~.5|Sensor Read Interrupt Detection support~.7|General Device Fault support~.8|Time Fault support~.9|Multiple Bond support~.10
        2a52Op Code~u8|Parameter~x~~~*
        2a53~w8|Instantaneous Speed~u16~m/s~b-8|Instantaneous Cadence~u8~/min|Instantaneous Stride Length~u16~m~e-2~0=1|Total Distance~u32~m~e-1~1=1|Walking or Running~.2~~~~0=walking,1=running
        2a54~w16|Total Distance Measurement Supported~.1|Walking or Running Status Supported~.2|Calibration Procedure Supported~.3|Multiple Sensor Locations Supported~.4
        2a55Op Code~u8|Parameter~x~~~*
        2a5b~w8|Cumulative Wheel Revolutions~u32~~~0=1|Last Wheel Event Time~u16~s~b-10~0=1|Cumulative Crank Revolutions~u16~~~1=1|Last Crank Event Time~u16~s~b-10~1=1
        2a5c~w16|Wheel Revolution Data Supported~.0|Crank Revolution Data Supported~.1|Multiple Sensor Locations Supported~.2
        2a5dSensor Location~u8~~~~0=Other,1=Top of shoe,2=In shoe,3=Hip,4=Front Wheel,5=Left Crank,6=Right Crank,7=Left Pedal,8=Right Pedal,9=Front Hub,a=Rear Dropout,b=Chainstay,c=Rear Wheel,d=Rear Hub,e=Chest,f=Spider,10=Chain Ring
        2a5e~w8|SpO2~f16~%|Pulse Rate~f16~bpm|Time Stamp~date~~~0=1|Measurement Status~u16~~~1=1|Device and Sensor Status~u24~~~2=1|Pulse Amplitude Index~f16~%~~3=1
        2a5f~w8|SpO2~f16~%|Pulse Rate~f16~bpm|SpO2 Fast~f16~%~~0=1|Pulse Rate Fast~f16~bpm~~0=1|SpO2 Slow~f16~%~~1=1|Pulse Rate Slow~f16~bpm~~1=1|Measurement Status~u16~~~2=1|Device and Sensor Status~u24~~~3=1|Pulse Amplitude Index~f16~%~~4=1
        2a63~w16|Instantaneous Power~i16~W|Pedal Power Balance~u8~%~b-1~0=1|Accumulated Torque~u16~N·m~b-5~2=1|Cumulative Wheel Revolutions~u32~~~4=1|Last Wheel Event Time~u16~s~b-11~4=1|Cumulative Crank Revolutions~u16~~~5=1|Last Crank Event Time~u16~s~b-10~5=1|Maximum Force~i16~N~~6=1|Minimum Force~i16~N~~6=1|Maximum Torque~i16~N·m~b-5~7=1|Minimum Torque~i16~N·m~b-5~7=1|~w24~~~8=1|Maximum Angle~.0-11~°~~8=1|Minimum Angle~.12-23~°~~8=1|Top Dead Spot Angle~u16~°~~9=1|Bottom Dead Spot Angle~u16~°~~10=1|Accumulated Energy~u16~kJ~~11=1
        2a64~w8|Cumulative Crank Revolutions~u16~~~0=1|Last Crank Event Time~u16~s~b-10~0=1|First Crank Measurement Angle~u16~°~~1=1|Instantaneous Force Magnitude~i16*~N~~2=1|Instantaneous Torque Magnitude~i16*~N·m~b-5~3=1
        2a65~w32|Pedal Power Balance Supported~.0|Accumulated Torque Supported~.1|Wheel Revolution Data Supported~.2|Crank Revolution Data Supported~.3|Extreme Magnitudes Supported~.4|Extreme Angles Supported~.5|Top and Bottom Dead Spot Angles Supported~.6|Accumulated Energy Supported~.7|Offset Compensation Indicator Supported~.8|Offset Compensation Supported~.9|Multiple Sensor Locations Supported~.11|Crank Length Adjustment Supported~.12|Chain Length Adjustment Supported~.13|Chain Weight Adjustment Supported~.14|Span Length Adjustment Supported~.15|Sensor Measurement Context~.16~~~~0=Force based,1=Torque based|Instantaneous Measurement Direction Supported~.17|Factory Calibration Date Supported~.18|Enhanced Offset Compensation Procedure Supported~.19|Distributed System Support~.20-21
        2a66Op Code~u8|Parameter~x~~~*
        2a67~w16|Position Status~.7-8|Elevation Source~.10-11|Heading Source~.12~~~~0=Heading based on movement,1=Heading based on magnetic compass|Instantaneous Speed~u16~m/s~e-2~0=1|Total Distance~u24~m~e-1~1=1|Latitude~i32~°~e-7~2=1|Longitude~i32~°~e-7~2=1|Elevation~i24~m~e-2~3=1|Heading~u16~°~e-2~4=1|Rolling Time~u8~s~~5=1|UTC Time~date~~~6=1
        2a68~w16|Position Status~.3-4|Heading Source~.5~~~~0=Heading based on movement,1=Heading based on magnetic compass|Navigation Indicator Type~.6~~~~0=To Waypoint,1=To Destination|Waypoint Reached~.7|Destination Reached~.8|Bearing~u16~°~e-2|Heading~u16~°~e-2|Remaining Distance~u24~m~e-1~0=1|Remaining Vertical Distance~i24~m~e-2~1=1|Estimated Time of Arrival~date~~~2=1
        2a69~w16|Position Status~.7-8|Number of Beacons in Solution~u8~~~0=1|Number of Beacons in View~u8~~~1=1|Time to First Fix~u16~s~e-1~2=1|EHPE~u32~m~e-2~3=1|EVPE~u32~m~e-2~4=1|HDOP~u8~~2e-1~5=1|VDOP~u8~~2e-1~6=1
        2a6a~w32|Instantaneous Speed Supported~.0|Total Distance Supported~.1|Location Supported~.2|Elevation Supported~.3|Heading Supported~.4|Rolling Time Supported~.5|UTC Time Supported~.6|Remaining Distance Supported~.7|Remaining Vertical Distance Supported~.8|Estimated Time of Arrival Supported~.9|Number of Beacons in Solution Supported~.10|Number of Beacons in View Supported~.11|Time to First Fix Supported~.12|Estimated Horizontal Position Error Supported~.13|Estimated Vertical Position Error Supported~.14|Horizontal Dilution of Precision Supported~.15|Vertical Dilution of Precision Supported~.16|Fix Rate Setting Supported~.18|Elevation Setting Supported~.19|Position Status Supported~.20
        2a6bOp Code~u8|Parameter~x~~~*
        2a6cElevation~i24~m~e-2
        2a6dPressure~u32~Pa~e-1
        2a6eTemperature~i16~°C~e-2~~8000=?
        2a6fHumidity~u16~%~e-2~~ffff=?
        2a70True Wind Speed~u16~m/s~e-2
        2a71True Wind Direction~u16~°~e-2
        2a72Apparent Wind Speed~u16~m/s~e-2
        2a73Apparent Wind Direction~u16~°~e-2
        2a74Gust Factor~u8~~e-1
        2a75Pollen Concentration~u24~/m³
        2a76UV Index~u8
        2a77Irradiance~u16~W/m²~e-1
        2a78Rainfall~u16~m~e-3
        2a79Wind Chill~i8~°C
        2a7aHeat Index~i8~°C
        2a7bDew Point~i8~°C
        2a7eAerobic Heart Rate Lower Limit~u8~bpm
        2a7fAerobic Threshold~u8~bpm
        2a80Age~u8~years
        2a81Anaerobic Heart Rate Lower Limit~u8~bpm
        2a82Anaerobic Heart Rate Upper Limit~u8~bpm
        2a83Anaerobic Threshold~u8~bpm
        2a84Aerobic Heart Rate Upper Limit~u8~bpm
        2a85Year~u16~~~~0=?|Month~u8~~~~0=?|Day~u8~~~~0=?
        2a86Year~u16~~~~0=?|Month~u8~~~~0=?|Day~u8~~~~0=?
        2a87Email Address~s
        2a88Fat Burn Heart Rate Lower Limit~u8~bpm
        2a89Fat Burn Heart Rate Upper Limit~u8~bpm
        2a8aFirst Name~s
        2a8bFive Zone Heart Rate Limits - Very Light / Light Limit~u8~bpm|Five Zone Heart Rate Limits - Light / Moderate Limit~u8~bpm|Five Zone Heart Rate Limits - Moderate / Hard Limit~u8~bpm|Five Zone Heart Rate Limits - Hard / Maximum Limit~u8~bpm
        2a8cGender~u8~~~~0=Male,1=Female,2=Unspecified
        2a8dHeart Rate Max~u8~bpm
        2a8eHeight~u16~m~e-2
        2a8fHip Circumference~u16~m~e-2
        2a90Last Name~s
        2a91Maximum Recommended Heart Rate~u8~bpm
        2a92Resting Heart Rate~u8~bpm
        2a93Sport Type for Aerobic and Anaerobic Thresholds~u8~~~~0=Unspecified,1=Running (Treadmill),2=Cycling (Ergometer),3=Rowing (Ergometer),4=Cross Training (Elliptical),5=Climbing,6=Skiing,7=Skating,8=Arm exercising,9=Lower body exercising,a=Upper body exercising,b=Whole body exercising
        2a94Three Zone Heart Rate Limits - Light (Fat burn) / Moderate (Aerobic) Limit~u8~bpm|Three Zone Heart Rate Limits - Moderate (Aerobic) / Hard (Anaerobic) Limit~u8~bpm
        2a95Two Zone Heart Rate Limit - Fat Burn / Fitness Limit~u8~bpm
        2a96VO2 Max~u8~mL/(kg·min)
        2a97Waist Circumference~u16~m~e-2
        2a98Weight~u16~kg~5e-3
        2a99Database Change Increment~u32
        2a9aUser Index~u8~~~~ff=Unknown User
        2a9b~w32|Time Stamp Supported~.0|Multiple Users Supported~.1|Basal Metabolism Supported~.2|Muscle Percentage Supported~.3|Muscle Mass Supported~.4|Fat Free Mass Supported~.5|Soft Lean Mass Supported~.6|Body Water Mass Supported~.7|Impedance Supported~.8|Weight Supported~.9|Height Supported~.10|Weight Measurement Resolution~.11-14|Height Measurement Resolution~.15-17
        2a9c~w16|Body Fat Percentage~u16~%~e-1~~ffff=?|Time Stamp~date~~~1=1|User ID~u8~~~2=1~ff=?|Basal Metabolism~u16~kJ~~3=1|Muscle Percentage~u16~%~e-1~4=1|Muscle Mass~u16~kg~5e-3~0=0&5=1|Muscle Mass~u16~lb~e-2~0=1&5=1|Fat Free Mass~u16~kg~5e-3~0=0&6=1|Fat Free Mass~u16~lb~e-2~0=1&6=1|Soft Lean Mass~u16~kg~5e-3~0=0&7=1|Soft Lean Mass~u16~lb~e-2~0=1&7=1|Body Water Mass~u16~kg~5e-3~0=0&8=1|Body Water Mass~u16~lb~e-2~0=1&8=1|Impedance~u16~Ω~e-1~9=1|Weight~u16~kg~5e-3~0=0&10=1|Weight~u16~lb~e-2~0=1&10=1|Height~u16~m~e-3~0=0&11=1|Height~u16~in~e-1~0=1&11=1
        2a9d~w8|Weight~u16~kg~5e-3~0=0|Weight~u16~lb~e-2~0=1|Time Stamp~date~~~1=1|User ID~u8~~~2=1~ff=?|BMI~u16~kg/m²~e-1~3=1|Height~u16~m~e-3~0=0&3=1|Height~u16~in~e-1~0=1&3=1
        2a9e~w32|Time Stamp Supported~.0|Multiple Users Supported~.1|BMI Supported~.2|Weight Measurement Resolution~.3-6|Height Measurement Resolution~.7-9
        2aa0X-Axis~i16~µT~e-1|Y-Axis~i16~µT~e-1
        2aa1X-Axis~i16~µT~e-1|Y-Axis~i16~µT~e-1|Z-Axis~i16~µT~e-1
        2aa2Language~s
        2aa3Barometric Pressure Trend~u8~~~~0=?,1=Continuously falling,2=Continuously rising,3=Falling then steady,4=Rising then steady,5=Falling before a lesser rise,6=Falling before a greater rise,7=Rising before a greater fall,8=Rising before a lesser fall,9=Steady
        2aa6Central Address Resolution~u8~~~~0=not supported,1=supported
        2aa7Size~u8|~w8|Glucose Concentration~f16~mg/dL|Time Offset~u16~min|Status~u8~~~7=1|Calibration and Temperature~u8~~~6=1|Warnings~u8~~~5=1|Trend~f16~mg/(dL·min)~~0=1|Quality~f16~%~~1=1|~w16~~~*
        2aa8~w24|Calibration supported~.0|Patient High/Low Alerts supported~.1|Hypo Alerts supported~.2|Hyper Alerts supported~.3|Rate of Increase/Decrease Alerts supported~.4|Device Specific Alert supported~.5|Sensor Malfunction Detection supported~.6|Sensor Temperature High-Low Detection supported~.7|Sensor Result High-Low Detection supported~.8|Low Battery Detection supported~.9|Sensor Type Error Detection supported~.10|General Device Fault supported~.11|E2E-CRC supported~.12|Multiple Bond supported~.13|Multiple Sessions supported~.14|CGM Trend Information supported~.15|CGM Quality supported~.16|~w8|Type~.0-3~~~~1=capillary whole blood,2=capillary plasma,3=venous whole blood,4=venous plasma,5=arterial whole blood,6=arterial plasma,7=undetermined whole blood,8=undetermined plasma,9=interstitial fluid,a=control solution|Sample Location~.4-7~~~~1=finger,2=alternate site test,3=earlobe,4=control solution,f=?|~w16
        2aa9Time Offset~u16~min|CGM Status~w24|~w16~~~*
        2aaaSession Start Time~date|Time Zone~i8~min~15e0~~80=?|DST Offset~u8~~~~0=Standard Time,2=Half an hour Daylight Time (+ 0.5h),4=Daylight Time (+ 1h),8=Double Daylight Time (+ 2h),ff=DST offset unknown|~w16~~~*
        2aabCGM Session Run Time~u16~h|~w16~~~*
        2aacOp Code~u8|Parameter~x~~~*
        2abeObject Name~s
        2abfObject Type~uuid
        2ac1Object First Created~date
        2ac2Object Last Modified~date
        2ac3Object ID~u48
        2ac9Resolvable Private Address Only~u8~~~~0=used only
        2acd~w16|Instantaneous Speed~u16~km/h~e-2~0=0|Average Speed~u16~km/h~e-2~1=1|Total Distance~u24~m~~2=1|Inclination~i16~%~e-1~3=1|Ramp Angle Setting~i16~°~e-1~3=1|Positive Elevation Gain~u16~m~e-1~4=1|Negative Elevation Gain~u16~m~e-1~4=1|Instantaneous Pace~u16~s~~5=1|Average Pace~u16~s~~6=1|Total Energy~u16~kcal~~7=1|Energy Per Hour~u16~kcal~~7=1|Energy Per Minute~u8~kcal~~7=1|Heart Rate~u8~bpm~~8=1|Metabolic Equivalent~u8~MET~~9=1|Elapsed Time~u16~s~~10=1|Remaining Time~u16~s~~11=1|Force On Belt~i16~N~~12=1|Power Output~i16~W~~12=1
        2ace~w24|Movement Direction~.15~~~~0=Forward,1=Backward|Instantaneous Speed~u16~km/h~e-2~0=0|Average Speed~u16~km/h~e-2~1=1|Total Distance~u24~m~~2=1|Steps Per Minute~u16~/min~~3=1|Average Step Rate~u16~/min~~3=1|Stride Count~u16~~e-1~4=1|Positive Elevation Gain~u16~m~~5=1|Negative Elevation Gain~u16~m~~5=1|Inclination~i16~%~e-1~6=1|Ramp Setting~i16~°~e-1~6=1|Resistance Level~u8~~~7=1|Instantaneous Power~i16~W~~8=1|Average Power~i16~W~~9=1|Total Energy~u16~kcal~~10=1|Energy Per Hour~u16~kcal~~10=1|Energy Per Minute~u8~kcal~~10=1|Heart Rate~u8~bpm~~11=1|Metabolic Equivalent~u8~MET~e-1~12=1|Elapsed Time~u16~s~~13=1|Remaining Time~u16~s~~14=1
        2acf~w16|Floors~u16~~~0=0|Step Count~u16~~~0=0|Steps Per Minute~u16~/min~~1=1|Average Step Rate~u16~/min~~2=1|Positive Elevation Gain~u16~m~~3=1|Total Energy~u16~kcal~~4=1|Energy Per Hour~u16~kcal~~4=1|Energy Per Minute~u8~kcal~~4=1|Heart Rate~u8~bpm~~5=1|Metabolic Equivalent~u8~MET~e-1~6=1|Elapsed Time~u16~s~~7=1|Remaining Time~u16~s~~8=1
        2ad0~w16|Floors~u16~~~0=0|Steps Per Minute~u16~/min~~1=1|Average Step Rate~u16~/min~~2=1|Positive Elevation Gain~u16~m~~3=1|Stride Count~u16~~~4=1|Total Energy~u16~kcal~~5=1|Energy Per Hour~u16~kcal~~5=1|Energy Per Minute~u8~kcal~~5=1|Heart Rate~u8~bpm~~6=1|Metabolic Equivalent~u8~MET~e-1~7=1|Elapsed Time~u16~s~~8=1|Remaining Time~u16~s~~9=1
        2ad1~w16|Stroke Rate~u8~/min~b-1~0=0|Stroke Count~u16~~~0=0|Average Stroke Rate~u8~/min~b-1~1=1|Total Distance~u24~m~~2=1|Instantaneous Pace~u16~s~~3=1|Average Pace~u16~s~~4=1|Instantaneous Power~i16~W~~5=1|Average Power~i16~W~~6=1|Resistance Level~u8~~~7=1|Total Energy~u16~kcal~~8=1|Energy Per Hour~u16~kcal~~8=1|Energy Per Minute~u8~kcal~~8=1|Heart Rate~u8~bpm~~9=1|Metabolic Equivalent~u8~MET~e-1~10=1|Elapsed Time~u16~s~~11=1|Remaining Time~u16~s~~12=1
        2ad2~w16|Instantaneous Speed~u16~km/h~e-2~0=0|Average Speed~u16~km/h~e-2~1=1|Instantaneous Cadence~u16~/min~b-1~2=1|Average Cadence~u16~/min~b-1~3=1|Total Distance~u24~m~~4=1|Resistance Level~u8~~~5=1|Instantaneous Power~i16~W~~6=1|Average Power~i16~W~~7=1|Total Energy~u16~kcal~~8=1|Energy Per Hour~u16~kcal~~8=1|Energy Per Minute~u8~kcal~~8=1|Heart Rate~u8~bpm~~9=1|Metabolic Equivalent~u8~MET~e-1~10=1|Elapsed Time~u16~s~~11=1|Remaining Time~u16~s~~12=1
        2ad4Minimum Speed~u16~km/h~e-2|Maximum Speed~u16~km/h~e-2|Minimum Increment~u16~km/h~e-2
        2ad5Minimum Inclination~i16~%~e-1|Maximum Inclination~i16~%~e-1|Minimum Increment~u16~%~e-1
        2ad6Minimum Resistance Level~u8|Maximum Resistance Level~u8|Minimum Increment~u8
        2ad7Minimum Heart Rate~u8~bpm|Maximum Heart Rate~u8~bpm|Minimum Increment~u8~bpm
        2ad8Minimum Power~i16~W|Maximum Power~i16~W|Minimum Increment~u16~W
        2ae0Electric Current Value~u16~A~e-2~~ffff=?|Sensing Duration~duration8~s~~~fe=total life of the device,ff=?
        2ae1Voltage Value~u16~V~b-6~~ffff=?|Sensing Duration~duration8~s~~~fe=total life of the device,ff=?
        2ae2Boolean~u8~~~~0=False,1=True
        2ae3Distance from Planckian~i16~~e-5~~7ffe=?,7fff=!
        2ae4Chromaticity x-coordinate~u16~~b-16|Chromaticity y-coordinate~u16~~b-16
        2ae5Correlated Color Temperature~u16~K~~~ffff=?|Chromaticity Distance from Planckian~i16~~e-5~~7ffe=?,7fff=!
        2ae6Chromaticity Tolerance~u8~~e-4
        2ae7Color Rendering Index~i8~~~~7f=?
        2ae8Coefficient~r32
        2ae9Correlated Color Temperature~u16~K~~~ffff=?
        2aeaCount~u16~~~~ffff=?
        2aebCount~u24~~~~ffffff=?
        2aecCountry Code~u16~~~~ffff=?
        2aedDate~days~~~~0=?
        2aeeCurrent~u16~A~e-2~~ffff=?
        2aefMinimum Electric Current Value~u16~A~e-2~~ffff=?|Maximum Electric Current Value~u16~A~e-2~~ffff=?
        2af0Minimum Electric Current Value~u16~A~e-2~~ffff=?|Typical Electric Current Value~u16~A~e-2~~ffff=?|Maximum Electric Current Value~u16~A~e-2~~ffff=?
        2af1Average Electric Current Value~u16~A~e-2~~ffff=?|Standard Deviation Electric Current Value~u16~A~e-2~~ffff=?|Minimum Electric Current Value~u16~A~e-2~~ffff=?|Maximum Electric Current Value~u16~A~e-2~~ffff=?|Sensing Duration~duration8~s~~~fe=total life of the device,ff=?
        2af2Energy~u24~kWh~~~ffffff=?
        2af3Energy Value~u24~kWh~~~ffffff=?|Start Time~u8~h~e-1~~ff=?|End Time~u8~h~e-1~~ff=?
        2af4Number of Events~u16~~~~ffff=?|Average Event Duration~u16~s~~~ffff=?|Time Elapsed Since Last Event~duration8~s~~~fe=total life of the device,ff=?|Sensing Duration~duration8~s~~~fe=total life of the device,ff=?
        2af5Fixed String~s16
        2af6Fixed String~s24
        2af7Fixed String~s36
        2af8Fixed String~s8
        2af9Generic Level~u16
        2afaGlobal Trade Item Number~u48~~~~0=?
        2afbIlluminance~u24~lx~e-2~~ffffff=?
        2afcLuminous Efficacy~u16~lm/W~e-1~~ffff=?
        2afdLuminous Energy~u24~lm·h~e3~~ffffff=?
        2afeLuminous Exposure~u24~lx·h~e3~~ffffff=?
        2affLuminous Flux~u16~lm~~~ffff=?
        2b00Minimum Luminous Flux~u16~lm~~~ffff=?|Maximum Luminous Flux~u16~lm~~~ffff=?
        2b01Luminous Intensity~u16~cd~~~ffff=?
        2b02Mass Flow~u16~g/s~~~ffff=?
        2b03Perceived Lightness~u16
        2b04Percentage 8~u8~%~b-1~~ff=?
        2b05Power~u24~W~e-1~~fffffe=!,ffffff=?
        2b06Minimum Power Value~u24~W~e-1~~fffffe=!,ffffff=?|Typical Power Value~u24~W~e-1~~fffffe=!,ffffff=?|Maximum Power Value~u24~W~e-1~~fffffe=!,ffffff=?
        2b07Relative Runtime Value~u8~%~b-1~~ff=?|Minimum Current~u16~A~e-2~~ffff=?|Maximum Current~u16~A~e-2~~ffff=?
        2b08Relative Value~u8~%~b-1~~ff=?|Minimum Generic Level~u16|Maximum Generic Level~u16
        2b09Relative Value~u8~%~b-1~~ff=?|Minimum Voltage~u16~V~b-6~~ffff=?|Maximum Voltage~u16~V~b-6~~ffff=?
        2b0aRelative Value~u8~%~b-1~~ff=?|Minimum Illuminance~u24~lx~e-2~~ffffff=?|Maximum Illuminance~u24~lx~e-2~~ffffff=?
        2b0bRelative Value~u8~%~b-1~~ff=?|Start Time~u8~h~e-1~~ff=?|End Time~u8~h~e-1~~ff=?
        2b0cRelative Value~u8~%~b-1~~ff=?|Minimum Temperature Value~i16~°C~e-2~~8000=?|Maximum Temperature Value~i16~°C~e-2~~8000=?
        2b0dTemperature 8~i8~°C~b-1~~7f=?
        2b0eTemperature~i8~°C~b-1~~7f=?|Start Time~u8~h~e-1~~ff=?|End Time~u8~h~e-1~~ff=?
        2b0fAverage~i8~°C~b-1~~7f=?|Standard Deviation Value~i8~°C~b-1~~7f=?|Minimum Value~i8~°C~b-1~~7f=?|Maximum Value~i8~°C~b-1~~7f=?|Sensing Duration~duration8~s~~~fe=total life of the device,ff=?
        2b10Minimum Temperature~i16~°C~e-2~~8000=?|Maximum Temperature~i16~°C~e-2~~8000=?
        2b11Average Temperature~i16~°C~e-2~~8000=?|Standard Deviation Temperature~i16~°C~e-2~~8000=?|Minimum Temperature~i16~°C~e-2~~8000=?|Maximum Temperature~i16~°C~e-2~~8000=?|Sensing Duration~duration8~s~~~fe=total life of the device,ff=?
        2b12Time Decihour 8~u8~h~e-1~~ff=?
        2b13Time Exponential 8~duration8~s~~~fe=total life of the device,ff=?
        2b14Time Hour 24~u24~h~~~ffffff=?
        2b15Time Millisecond 24~u24~s~e-3~~ffffff=?
        2b16Time Second 16~u16~s~~~ffff=?
        2b17Time Second 8~u8~s~~~ff=?
        2b18Voltage Value~u16~V~b-6~~ffff=?
        2b19Minimum Voltage Value~u16~V~b-6~~ffff=?|Typical Voltage Value~u16~V~b-6~~ffff=?|Maximum Voltage Value~u16~V~b-6~~ffff=?
        2b1aAverage Voltage Value~u16~V~b-6~~ffff=?|Standard Deviation Voltage Value~u16~V~b-6~~ffff=?|Minimum Voltage Value~u16~V~b-6~~ffff=?|Maximum Voltage Value~u16~V~b-6~~ffff=?|Sensing Duration~duration8~s~~~fe=total life of the device,ff=?
        2b1bVolume Flow~u16~L/s~e-3~~ffff=?
        2b1cChromaticity Coordinate~u16~~b-16
        2b29~w8|Robust Caching~.0|Enhanced ATT Bearer~.1|Multiple Handle Value Notifications~.2
        2b2aDatabase Hash~x
        2b34~w8|Systolic~f16~mmHg~~0=0|Diastolic~f16~mmHg~~0=0|Mean Arterial Pressure~f16~mmHg~~0=0|Systolic~f16~kPa~~0=1|Diastolic~f16~kPa~~0=1|Mean Arterial Pressure~f16~kPa~~0=1|Time Stamp~u32~s~~1=1|Pulse Rate~f16~bpm~~2=1|User ID~u8~~~3=1~ff=?|Measurement Status~w16~~~4=1|User Facing Time~u32~s~~5=1
        2b35~w8|Cuff Pressure~f16~mmHg~~0=0|Cuff Pressure~f16~kPa~~0=1|Time Stamp~u32~s~~1=1|Pulse Rate~f16~bpm~~2=1|User ID~u8~~~3=1~ff=?|Measurement Status~w16~~~4=1|User Facing Time~u32~s~~5=1
        2b36~w8|Rolling Segment Counter: 0 to 63~.2-7|Sequence Number~u16|UUID~u16|Recorded Characteristic~x~~~*
        2b3a~w8|Enhanced ATT Bearer~.0
        2b46Unit~u16*
        2b47Height~u16~m~e-4
        2b48Middle Name~s
        2b49Stride Length~u16~m~e-3
        2b4aHandedness~u8~~~~0=Left handed,1=Right handed,2=Ambidextrous,3=Unspecified
        2b4bDevice Wearing Position~u8~~~~0=Other,1=Head,2=Head Ear,3=Head Ear Right,4=Head Ear Left,5=Head Neck,6=Trunk,7=Trunk Pelvis,8=Trunk Pelvis Right,9=Trunk Pelvis Left,a=Trunk Thorax,b=Trunk Thorax Right,c=Trunk Thorax Left,d=Trunk Back,e=UpperExtremity,f=UpperExtremity Right,10=UpperExtremity Left,11=UpperExtremity Wrist,12=UpperExtremity Wrist Right,13=UpperExtremity Wrist Left,14=UpperExtremity Finger,15=UpperExtremity Finger Right,16=UpperExtremity Finger Left,17=UpperExtremity Hand,18=UpperExtremity Hand Right,19=UpperExtremity Hand Left,1a=LowerExtremity,1b=LowerExtremity Right,1c=LowerExtremity Left,1d=LowerExtremity Ankle,1e=LowerExtremity Ankle Right,1f=LowerExtremity Ankle Left,20=LowerExtremity Foot,21=LowerExtremity Foot Right,22=LowerExtremity Foot Left,23=Pants Pocket,24=Pants Pocket Right,25=Pants Pocket Left,26=Chest Pocket,27=Chest Pocket Right,28=Chest Pocket Left
        2b4cFour Zone Heart Rate Limits - Light / Moderate Limit~u8~bpm|Four Zone Heart Rate Limits - Moderate / Hard Limit~u8~bpm|Four Zone Heart Rate Limits - Hard / Maximum Limit~u8~bpm
        2b4d~w8|Field Selector~.0-7~~~~0=No field is selected,4=The Threshold as Heart Rate field is selected|Threshold as Energy Expenditure per Hour~u16~kJ~~0-7=1|Threshold as Metabolic Equivalent~u8~MET~e-1~0-7=2|Threshold as Percentage of Maximum Heart Rate~u8~%~~0-7=3|Threshold as Heart Rate~u8~bpm~~0-7=4
        2b4e~w8|Total Energy Expenditure~u16~kJ~~0=1|Normal Walking Steps~u24~~~1=1|Intensity Steps~u24~~~2=1|Floor Steps~u24~~~3=1|Distance~u24~m~~4=1|Duration of Normal Walking~u24~s~~5=1|Duration of Intensity Walking~u24~s~~6=1
        2b4fSedentary Interval Notification~u16~s
        2b50Caloric Intake~u16~kcal
        2b89Apparent Energy 32~u32~kVA·h~e-3~~fffffffe=!,ffffffff=?
        2b8aApparent Power~u24~VA~e-1~~fffffe=!,ffffff=?
        2b8cCO2 Concentration~u16~ppm~~~fffe=65534 or greater,ffff=?
        2b8dCosine of the Angle~i8~~e-2~~7f=?
        2ba8Energy 32~u32~kWh~e-3~~fffffffe=!,ffffffff=?
        2bbaContent Control ID~u8
        2bcfAmmonia Concentration~f16~kg/m³
        2bd0Carbon Monoxide Concentration~f16~kg/m³
        2bd1Methane Concentration~f16~ppb
        2bd2Nitrogen Dioxide Concentration~f16~kg/m³
        2bd3Non-Methane Volatile Organic Compounds Concentration~f16~kg/m³
        2bd4Ozone Concentration~f16~kg/m³
        2bd5Particulate Matter - PM1 Concentration~f16~kg/m³
        2bd6Particulate Matter - PM2.5 Concentration~f16~kg/m³
        2bd7Particulate Matter - PM10 Concentration~f16~kg/m³
        2bd8Sulfur Dioxide Concentration~f16~kg/m³
        2bd9Sulfur Hexafluoride Concentration~f16~kg/m³
        2bdeFixed String 64~s64
        2bdfHigh Temperature~i16~°C~b-1~~8000=?,8001=!
        2be0High Voltage~u24~V~b-6~~ffffff=?
        2be1Light Distribution~u8~~~~0=Type not specified,1=Type I,2=Type II,3=Type III,4=Type IV,5=Type V
        2be2Light Output~u24~lm~~~fffffe=!,ffffff=?
        2be3Light Source Type~u8~~~~0=Type not specified,1=Low pressure fluorescent,2=High intensity discharge (HID),3=Low voltage halogen,4=Incandescent,5=Light emitting diode (LED),6=Organic light emitting diode (OLED),fd=Other than listed above,fe=No light source,ff=Multiple light source types
        2be4Noise~u8~dB~~~fe=254 or greater,ff=?
        2be5Relative Runtime~u8~%~b-1~~ff=?|Minimum Correlated Color Temperature~u16~K~~~ffff=?|Maximum Correlated Color Temperature~u16~K~~~ffff=?
        2be6Time Second 32~u32~s~~~ffffffff=?
        2be7VOC Concentration~u16~ppb~~~fffe=65534 or greater,ffff=?
        2be8Voltage Frequency~u16~Hz~~~0=DC power supply,fffe=!,ffff=?
        2be9~w8|Critical Power State~.0|Immediate Service Required~.1
        2bea~w8|Battery Health Summary~u8~%~~0=1|Cycle Count~u16~~~1=1|Current Temperature~i8~°C~~2=1~7f=greater than 126,80=less than -127|Deep Discharge Count~u16~~~3=1
        2beb~w8|Cycle Count Designed Lifetime~u16~~~0=1|Min Designed Operating Temperature~i8~°C~~1=1~7f=greater than 126,80=less than -127|Max Designed Operating Temperature~i8~°C~~1=1~7f=greater than 126,80=less than -127
        2bec~w16|~w8|Battery Replaceable~.0|Battery Rechargeable~.1|Battery Manufacture Date~days~~~0=1~0=?|Battery Expiration Date~days~~~1=1~0=?|Battery Designed Capacity~f16~kWh~~2=1|Battery Low Energy~f16~kWh~~3=1|Battery Critical Energy~f16~kWh~~4=1|Battery Chemistry~u8~~~5=1~0=?,1=Alkaline (zinc–manganese dioxide),2=Lead Acid,5=Lithium Ion Li,6=Lithium Polymer,8=Nickel Cadmium NiCd,9=Nickel-metal Hydride NiMH,a=Silver Oxide (silver-zinc) AgZn,b=Zinc Chloride,c=Zinc Air,d=Zinc Carbon,ff=Other|Nominal Voltage~f16~V~~6=1|Battery Aggregation Group~u8~~~7=1~0=Not in an aggregation group
        2bed~w8|~w16|Battery Present~.0|Wired External Power Source Connected~.1-2~~~~0=No,1=Yes,2=?|Wireless External Power Source Connected~.3-4~~~~0=No,1=Yes,2=?|Battery Charge State~.5-6~~~~0=?,1=Charging,2=Discharging: Active,3=Discharging: Inactive|Battery Charge Level~.7-8~~~~0=?,1=Good,2=Low,3=Critical|Charging Type~.9-11~~~~0=Unknown or Not Charging,1=Constant Current,2=Constant Voltage,3=Trickle,4=Float|Charging Fault Reason~.12-14|Identifier~u16~~~0=1|Battery Level~u8~%~~1=1|~w8~~~2=1|Service Required~.0-1~~~2=1~0=False,1=True,2=?|Battery Fault~.2~~~2=1~0=False or Unknown,1=Yes
        2bee~w8|Time until Discharged~u24~min~~~ffffff=?|Time until Discharged on Standby~u24~min~~0=1~ffffff=?|Time until Recharged~u24~min~~1=1~ffffff=?
        2befEstimated Service Date~days~~~~0=?
        2bf0~w8|External Source Power~f16~W~~0=1|Present Voltage~f16~V~~1=1|Available Energy~f16~kWh~~2=1|Available Battery Capacity~f16~kWh~~3=1|Charge Rate~f16~W~~4=1|Available Energy at Last Charge~f16~kWh~~5=1
        2bf2~w8|Tick Counter~.0|UTC~.1|Resolution~.2-3~~~~0=1 s,1=0.1 s,2=1 ms,3=0.1 ms|Time Value~u48|Time Source~u8|TZ/DST Offset~i8~min~15e0
        2bff~w8|UDI Label~z~~~0=1|UDI Device Identifier~z~~~1=1|UDI Issuer~z~~~2=1|UDI Authority~z~~~3=1
        2c05Percentage 8 Steps~u8~~~~ff=?
        2c06Acceleration~i32~m/s²~e-3~~7fffffff=?
        2c07Force~i32~N~e-3~~7fffffff=?
        2c08Linear Position~i32~m~e-7~~7fffffff=?
        2c09Rotational Speed~i32~/min~~~7fffffff=?
        2c0aLength~u32~m~e-7~~ffffffff=?
        2c0bTorque~i32~N·m~e-2~~7fffffff=?
        2c1bHumidity 8~u8~%~b-1~~ff=?
        2c1cIlluminance 16~u16~lx~~~ffff=?
        2c1dVector X~i8~g~e-2~~7e=out of range,7f=?|Vector Y~i8~g~e-2~~7e=out of range,7f=?|Vector Z~i8~g~e-2~~7e=out of range,7f=?
        2c1eVector X~i16~g~e-3~~7ffe=out of range,7fff=?|Vector Y~i16~g~e-3~~7ffe=out of range,7fff=?|Vector Z~i16~g~e-3~~7ffe=out of range,7fff=?
        2c1fAcceleration Detection Status~u8~~~~0=No change in acceleration detected,1=Change in acceleration detected
        2c20Open Status~u8~~~~0=Open,1=Closed,2=Tilted/Ajar
        2c21~w8|Button 0~.0-1~~~~0=not actuated,1=pressed,2=released,3=?|Button 1~.2-3~~~~0=not actuated,1=pressed,2=released,3=?|Button 2~.4-5~~~~0=not actuated,1=pressed,2=released,3=?|Button 3~.6-7~~~~0=not actuated,1=pressed,2=released,3=?
        2c22~w8|Contact 0~.0~~~~0=open,1=closed|Contact 1~.1~~~~0=open,1=closed|Contact 2~.2~~~~0=open,1=closed|Contact 3~.3~~~~0=open,1=closed|Contact 4~.4~~~~0=open,1=closed|Contact 5~.5~~~~0=open,1=closed|Contact 6~.6~~~~0=open,1=closed|Contact 7~.7~~~~0=open,1=closed
        2c26Op Code~u8~~~~0=Read the cooking step,1=Start execution of the cooking step,2=Stop execution of the cooking step,3=Delete the cooking step|Cooking Step Index~u16
        2c27~w16|Cooking Step Index~u16~~~~0=?|Cooking Process Type~u8~~~~0=No cooking,1=Preheating,2=Baking,3=Boiling,4=Braising,5=Broiling,6=Cooling,7=Freezing,8=Frying,9=Grilling,a=Melting,b=Poaching,c=Roasting,d=Sauteing,e=Simmering,f=Sous Vide,10=Steaming,11=Stewing,ff=Other / Unknown|Duration~u16~~~*|Temperature~i16~°C~e-1~3=1~8000=?|Temperature Gradient~u8~K/s~e-1~3=1&4=1|Humidity~u16~%~e-2~5=1~ffff=?|Termination Condition~w16~~~6=1
        2c28~w8|Cooking Step Index~u16~~~~0=?|Remaining Time~u16~~~~ffff=?
        2c29~w16|Power Technology~u8~~~~0=Heating Unknown / Other,1=Heating Induction,2=Heating Gas,3=Heating Radiant,4=Cooling Refrigeration,5=Cooling Freezer,ff=Manufacturer Specific|Number of Cooking Steps~u16|Nominal Power~u24~W~e-1~1=1~fffffe=!,ffffff=?|Boost Level~u8~%~~1=1|Minimum Available Power~u16~%~e-1~1=1|Maximum Temperature~i16~°C~e-1~2=1~8000=?|Minimum Temperature~i16~°C~e-1~2=1~8000=?|Maximum Blower Fan Airflow~u16~m³/s~e-3~4=1~ffff=?
        2c2a~w16|Power Level~u16~%~e-1~0=1|Temperature~i16~°C~e-1~1=1~8000=?|Humidity~u16~%~e-2~2=1~ffff=?|Blower Fan Speed~u8~%~b-1~3=1~ff=?|Manufacturer Specific Data~x~~~4=1
        2c2b~w16|Power Level~u16~%~e-1~0=1|Temperature~i16~°C~e-1~1=1~8000=?|Humidity~u16~%~e-2~2=1~ffff=?|Blower Fan Speed~u8~%~b-1~3=1~ff=?|Manufacturer Specific Data~x~~~4=1
        2c2eTemperature~i16~°C~e-1~~8000=?
        2c30Kitchen Appliance Airflow~u16~m³/s~e-3~~ffff=?

        """#
}
