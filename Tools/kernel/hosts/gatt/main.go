// A host of another make, for test_hosts.py: the Go package gatt, which opens the controller itself, as a peripheral or a central.
//
//	gatt-host peripheral|central INDEX
//
// It prints one JSON object a line, and obeys one command a line from standard input, each of which it answers with "done" or
// "failed". It ends with its input.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/paypal/gatt"
)

const name = "Gopher"

type fields map[string]interface{}

type host struct {
	device  gatt.Device
	central gatt.Central
}

var printing sync.Mutex

func say(event string, more fields) {
	line := fields{"event": event}
	for key, value := range more {
		line[key] = value
	}
	text, _ := json.Marshal(line)
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(text))
}

func fail(err error) {
	say("failed", fields{"message": err.Error()})
	os.Exit(1)
}

// An attribute's UUID as test_hosts.py writes it: four digits, also of those that differ in these only.
func short(u gatt.UUID) string {
	digits := strings.ToUpper(u.String())
	if len(digits) > 4 {
		return digits[4:8]
	}
	return digits
}

func uuid(digits string) gatt.UUID { return gatt.MustParseUUID(fmt.Sprintf(private, digits)) }

// More than fits into one packet: 300 octets that count.
func longValue() []byte {
	value := make([]byte, 300)
	for i := range value {
		value[i] = byte(i)
	}
	return value
}

// Carries out what standard input says.
func (h *host) obey(commands map[string]func(...string) (fields, error)) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		run, ok := commands[words[0]]
		if !ok {
			fail(errors.New("no command " + words[0]))
		}
		answer, err := run(words[1:]...)
		if err != nil {
			say("failed", fields{"command": words[0], "message": err.Error()})
			continue
		}
		if answer == nil {
			answer = fields{}
		}
		answer["command"] = words[0]
		say("done", answer)
	}
}

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("usage: gatt-host peripheral|central INDEX"))
	}
	index, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fail(err)
	}
	h := &host{}
	// The kernel lets go of an adapter some time after gatt has taken it down.
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		h.device, err = gatt.NewDevice(gatt.LnxDeviceID(index, false), gatt.LnxMaxConnections(1))
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(end) {
			fail(err)
		}
	}
	if os.Args[1] == "peripheral" {
		h.peripheral()
	} else {
		h.centralRole()
	}
	if stopping, ok := h.device.(interface{ Stop() error }); ok {
		stopping.Stop()
	}
}
