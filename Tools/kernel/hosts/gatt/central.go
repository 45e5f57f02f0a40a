package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/paypal/gatt"
)

const (
	scans = 12
	scan  = 10 * time.Second
)

// What a central knows of its peripheral.
type link struct {
	wanted          string
	found           chan gatt.Peripheral
	connected       chan gatt.Peripheral
	peripheral      gatt.Peripheral
	characteristics map[string]*gatt.Characteristic
}

func (h *host) centralRole() {
	l := &link{found: make(chan gatt.Peripheral, 16), connected: make(chan gatt.Peripheral, 1),
		characteristics: map[string]*gatt.Characteristic{}}
	h.device.Handle(
		gatt.PeripheralDiscovered(func(p gatt.Peripheral, a *gatt.Advertisement, _ int) {
			if a.LocalName == l.wanted {
				select {
				case l.found <- p:
				default:
				}
			}
		}),
		gatt.PeripheralConnected(func(p gatt.Peripheral, _ error) { l.connected <- p }),
		gatt.PeripheralDisconnected(func(gatt.Peripheral, error) { say("disconnected", nil) }),
	)
	h.device.Init(func(_ gatt.Device, state gatt.State) {
		if state == gatt.StatePoweredOn {
			say("ready", nil)
		}
	})
	h.obey(map[string]func(...string) (fields, error){
		"find": func(words ...string) (fields, error) {
			l.wanted = words[0]
			// A controller that reports each device once reports it again when scanning is switched on again.
			for attempts := 0; attempts < scans; attempts++ {
				h.device.Scan(nil, false)
				select {
				case l.peripheral = <-l.found:
				case <-time.After(scan):
				}
				h.device.StopScanning()
				if l.peripheral != nil {
					return fields{"address": l.peripheral.ID()}, nil
				}
			}
			return nil, errors.New(words[0] + " was not found")
		},
		"connect": func(...string) (fields, error) {
			h.device.Connect(l.peripheral)
			l.peripheral = <-l.connected
			return nil, nil
		},
		"mtu": func(words ...string) (fields, error) {
			octets, err := strconv.Atoi(words[0])
			if err != nil {
				return nil, err
			}
			return nil, l.peripheral.SetMTU(uint16(octets))
		},
		"discover": l.discover,
		"read": func(words ...string) (fields, error) {
			c, err := l.characteristic(words[0])
			if err != nil {
				return nil, err
			}
			value, err := l.peripheral.ReadLongCharacteristic(c)
			return fields{"value": hex.EncodeToString(value)}, err
		},
		"write":   func(words ...string) (fields, error) { return nil, l.write(words, false) },
		"command": func(words ...string) (fields, error) { return nil, l.write(words, true) },
		"subscribe": func(words ...string) (fields, error) {
			return nil, l.subscribe(words[0], func(c *gatt.Characteristic, value []byte, _ error) {
				say("value", fields{"uuid": short(c.UUID()), "value": hex.EncodeToString(value)})
			})
		},
		"unsubscribe": func(words ...string) (fields, error) { return nil, l.subscribe(words[0], nil) },
		"disconnect": func(...string) (fields, error) {
			h.device.CancelConnection(l.peripheral)
			return nil, nil
		},
	})
}

func (l *link) characteristic(what string) (*gatt.Characteristic, error) {
	c, ok := l.characteristics[what]
	if !ok {
		return nil, errors.New("no characteristic " + what)
	}
	return c, nil
}

func (l *link) write(words []string, isCommand bool) error {
	c, err := l.characteristic(words[0])
	if err != nil {
		return err
	}
	value, err := hex.DecodeString(words[1])
	if err != nil {
		return err
	}
	return l.peripheral.WriteCharacteristic(c, value, isCommand)
}

func (l *link) subscribe(what string, heard func(*gatt.Characteristic, []byte, error)) error {
	c, err := l.characteristic(what)
	if err != nil {
		return err
	}
	if c.Properties()&gatt.CharNotify != 0 {
		return l.peripheral.SetNotifyValue(c, heard)
	}
	return l.peripheral.SetIndicateValue(c, heard)
}

// Everything that the peripheral has: of each characteristic its service, properties and descriptors.
func (l *link) discover(...string) (fields, error) {
	services, err := l.peripheral.DiscoverServices(nil)
	if err != nil {
		return nil, err
	}
	found := []string{}
	for _, s := range services {
		characteristics, err := l.peripheral.DiscoverCharacteristics(nil, s)
		if err != nil {
			return nil, err
		}
		for _, c := range characteristics {
			// Its own search needs a range that is not empty.
			if c.VHandle() < s.EndHandle() && (c.EndHandle() == 0 || c.EndHandle() > c.VHandle()) {
				if _, err := l.peripheral.DiscoverDescriptors(nil, c); err != nil {
					return nil, err
				}
			}
			descriptors := []string{}
			for _, d := range c.Descriptors() {
				descriptors = append(descriptors, short(d.UUID()))
			}
			sort.Strings(descriptors)
			l.characteristics[short(c.UUID())] = c
			found = append(found, fmt.Sprintf("%s/%s %d %s", short(s.UUID()), short(c.UUID()), int(c.Properties()),
				strings.Join(descriptors, ",")))
		}
	}
	return fields{"found": found}, nil
}
