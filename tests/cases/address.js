address => {
        history.replaceState(null, "", address);
        dispatchEvent(new HashChangeEvent("hashchange", {newURL: location.href}));
    }
