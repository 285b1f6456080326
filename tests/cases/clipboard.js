given => Object.defineProperty(navigator, 'clipboard', {configurable: true, value: given && {
    writeText: async text => {
        if (given === 'denied') throw new DOMException('', 'NotAllowedError');
        window.copied = text; }}})
